"""The common style of figures: quiet, readable on a phone, safe for the colour-blind; and how figures are saved."""

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

# Okabe & Ito 2008, "Color universal design": blue, vermilion, green, purple, orange, sky
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
INK, QUIET, PALE = "#222222", "#6b6b6b", "#ececec"
WIDTH = 4.6  # inches: at the width of a phone, ten points are about ten pixels

_HOUSE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10.0,
    "text.color": INK,
    "text.parse_math": False,  # a dollar in a label is a dollar
    "axes.labelcolor": INK,
    "axes.edgecolor": QUIET,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "axes.formatter.use_mathtext": False,
    "xtick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.color": QUIET,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text: smaller, can be found and read aloud
    "svg.hashsalt": "whence",
    "pdf.fonttype": 42,
    "savefig.dpi": 200,
}


@contextmanager
def house() -> Iterator[None]:
    """Everything drawn or saved inside has the common style; nothing outside is changed."""
    with matplotlib.rc_context(_HOUSE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # the reader's own font may have it
        yield


def canvas(height: float, width: float = WIDTH) -> tuple[Figure, Axes]:
    """A figure with one pair of axes, made without pyplot, so that nothing global is kept. Sizes in inches."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def panels(heights: Sequence[float], width: float = WIDTH) -> tuple[Figure, list[Axes]]:
    """A figure with axes one above the other, of these heights in inches."""
    figure = Figure(figsize=(width, sum(heights)), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, list(figure.subplots(len(heights), height_ratios=list(heights), squeeze=False)[:, 0])


def apart(heights: Sequence[float], width: float = WIDTH) -> tuple[Figure, list[Axes]]:
    """The same with separate margins: a picture above, a plot with long names below."""
    figure = Figure(figsize=(width, sum(heights)), layout="constrained")
    FigureCanvasAgg(figure)
    parts = figure.subfigures(len(heights), 1, height_ratios=list(heights), squeeze=False)[:, 0]
    return figure, [part.add_subplot() for part in parts]


def note_above(axes: Axes, note: str) -> None:
    """A line of small grey text at the upper left, above the axes."""
    axes.annotate(
        note, (0, 1), xycoords="axes fraction", xytext=(0, 4), textcoords="offset points", fontsize=8.5, color=QUIET
    )


def save(figure: Figure, path: str | Path, endings: Sequence[str] = ("svg", "pdf", "png")) -> list[Path]:
    """Write `path` with the endings .svg, .pdf and .png, or some of them; the same figure gives the same bytes."""
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}
    written, layout = [], figure.get_layout_engine()
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with house():
        for ending in endings:
            target = Path(f"{path}.{ending}")
            figure.savefig(target, format=ending, metadata=metadata[ending], facecolor="white")
            figure.set_layout_engine("none")  # laid out once for all endings: that takes as long as drawing
            written.append(target)
    figure.set_layout_engine(layout)
    return written


def linked(files: Sequence[Path]) -> str:
    """The link to the first of the files, from a page next to their folder."""
    return f"{files[0].parent.name}/{files[0].name}"


def as_svg(figure: Figure) -> str:
    """The figure as an `<svg>` element to embed in a page, with ids that no other figure has."""
    buffer = io.StringIO()
    with house():
        figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
    drawn = buffer.getvalue()
    drawn = drawn[drawn.index("<svg") :]
    drawn = re.sub(r"<metadata>.*?</metadata>\s*", "", drawn, flags=re.DOTALL)
    drawn = re.sub(r"<style[^>]*>.*?</style>\s*", "", drawn, flags=re.DOTALL)  # it would style the whole page
    drawn = drawn.replace("<svg", '<svg style="stroke-linejoin:round;stroke-linecap:butt"', 1)
    return with_ids(re.sub(r"\n\s*", "\n", drawn), "f" + sha256(drawn.encode()).hexdigest()[:8])


def with_ids(svg: str, prefix: str) -> str:
    """The same SVG with a prefix before every id and every reference to one."""

    def renamed(tag: re.Match[str]) -> str:
        return re.sub(r'(\sid="|href="#|url\(#)', lambda found: f"{found[1]}{prefix}-", tag[0])

    return re.sub(r"<[a-zA-Z][^<>]*>", renamed, svg)
