"""A flow diagram as a matplotlib figure, for PDF and PNG: the places of `flow_layout`."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from whence.figures.flow.captions import HOW_TO_READ, scales
from whence.figures.flow.layout import FAINTEST, Layout, Scale, alpha_of, darkest_dot, layout, lines
from whence.figures.flow.model import Flow
from whence.figures.flow.svg import (
    CAPTION,
    STEP,
    THIN,
    Stroke,
    caption_lines,
    fans,
    head_name,
    heading_line,
    inks,
    segments,
)
from whence.figures.style import INK, PALE, PALETTE, QUIET, house
from whence.figures.tokens.pdf import INCH
from whence.figures.tokens.svg import SIZE

POINT = 72 / INCH  # of a pixel


def as_figure(flow: Flow, scale: Scale = "strongest") -> Figure:
    """The same picture as the SVG, drawn by matplotlib."""
    places, drawn, dot = layout(flow), lines(flow, scale), darkest_dot(flow, scale)
    written = caption_lines([HOW_TO_READ, scales(flow, drawn, dot)], places.width - 24)
    height = places.height + STEP * (len(written) + 1)
    with house():
        figure = Figure(figsize=(places.width / INCH, height / INCH))
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, places.width), ylim=(height, 0))
        axes.axis("off")
        _strokes(axes, fans(flow, places, dot, scale))
        _strokes(axes, segments(flow, places, scale))
        _dots(axes, flow, places, dot, scale)
        _names(axes, flow, places)
        for number, line in enumerate(written):
            _write(axes, 12.0, places.height + STEP * (number + 1), line, CAPTION)
    return figure


def save_pdf(flow: Flow, path: Path, scale: Scale = "strongest") -> None:
    """The picture as a PDF file; the same flow gives the same bytes."""
    figure = as_figure(flow, scale)
    with house():
        figure.savefig(path, format="pdf", metadata={"CreationDate": None})


def _strokes(axes: Axes, strokes: Iterable[tuple[float, Stroke]]) -> None:
    """Lines that can be seen, in steps of a hundredth of darkness: a file names each step once."""
    seen = [(alpha, ends) for alpha, ends in strokes if alpha >= FAINTEST]
    ends = [((x, y), (to_x, to_y)) for _, (x, y, to_x, to_y) in seen]
    colours = [to_rgba(PALETTE[0], round(alpha, 2)) for alpha, _ in seen]
    axes.add_collection(LineCollection(ends, colors=colours, linewidths=THIN * POINT), autolim=False)


def _dots(axes: Axes, flow: Flow, places: Layout, dot: float, scale: Scale) -> None:
    """Every token's place in pale, and over it what has arrived there."""
    alpha = alpha_of(flow.nodes, dot, scale).round(2)  # [level head token]
    x = np.broadcast_to(places.x, alpha.shape)
    y = np.broadcast_to(places.y[:, None, None], alpha.shape)
    axes.plot(x.ravel(), y.ravel(), "o", color=PALE, markersize=2 * places.radius * POINT, markeredgewidth=0)
    for step in np.unique(alpha):
        here = alpha == step
        wide = 2 * places.size(float(step)) * POINT
        axes.plot(x[here], y[here], "o", color=to_rgba(PALETTE[0], float(step)), markersize=wide, markeredgewidth=0)
    axes.plot(*places.answer, "o", color=PALETTE[0], markersize=10 * POINT, markeredgewidth=0)


def _names(axes: Axes, flow: Flow, places: Layout) -> None:
    """The heading, the names of rows and columns, and the tokens."""
    x, y = places.answer
    _write(axes, 12.0, 18.0, heading_line(flow, places), 13.0, weight="bold")
    _write(axes, x, y - 9, "answer", 12.0, ha="center")
    for level, row in enumerate(places.y):
        _write(axes, 12.0, float(row) + 4, f"layer {level}" if level else "input", 12.0, color=QUIET)
    for head in range(flow.heads):
        ground = {"facecolor": "white", "linewidth": 0, "pad": 1.0, "alpha": 0.8}
        _write(
            axes,
            places.x[head].mean(),
            places.y[-1] - 12,
            head_name(flow, places, head),
            12.0,
            ha="center",
            bbox=ground,
        )
    _write(axes, 12.0, places.text_top + SIZE, "tokens", 12.0, color=QUIET)
    turned = {"rotation": -90, "va": "top"} if places.upright else {}
    for label, ink in zip(places.labels, inks(flow), strict=True):
        down = 0 if places.upright else SIZE
        _write(
            axes,
            label.x,
            places.text_top + down,
            label.text,
            SIZE,
            ha="center",
            family="monospace",
            color=ink,
            **turned,
        )


def _write(axes: Axes, x: float, y: float, text: str, size: float, **style: object) -> None:
    axes.text(x, y, text, fontsize=size * POINT, parse_math=False, **({"color": INK} | style))  # type: ignore[arg-type]
