"""A flow diagram as a matplotlib figure, for PDF and PNG."""

from collections.abc import Iterable
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from whence.figures.flow.drawing import BLUE, Dots, Strokes, Text, draw_flow
from whence.figures.flow.layout import THIN, Scale
from whence.figures.flow.model import Flow
from whence.figures.style import house
from whence.figures.tokens.pdf import POINT, pixel_figure


def as_figure(flow: Flow, scale: Scale = "strongest") -> Figure:
    """The same picture as the SVG, drawn by matplotlib."""
    drawing = draw_flow(flow, scale)
    with house():
        figure, axes = pixel_figure(drawing.width, drawing.height)
        FigureCanvasAgg(figure)
        _add_strokes(axes, drawing.strokes)
        for dots in drawing.dots:
            _add_dots(axes, dots)
        for text in drawing.texts:
            _add_text(axes, text)
    return figure


def save_pdf(flow: Flow, path: Path, scale: Scale = "strongest") -> None:
    """The picture as a PDF file; the same flow gives the same bytes."""
    figure = as_figure(flow, scale)
    with house():
        figure.savefig(path, format="pdf", metadata={"CreationDate": None})


def _add_strokes(axes: Axes, strokes: Iterable[Strokes]) -> None:
    lines = [((x, y), (to_x, to_y), group.alpha) for group in strokes for x, y, to_x, to_y in group.segments]
    colours = [to_rgba(BLUE, alpha) for *_, alpha in lines]
    ends = [(begin, end) for begin, end, _ in lines]
    axes.add_collection(LineCollection(ends, colors=colours, linewidths=THIN * POINT), autolim=False)


def _add_dots(axes: Axes, dots: Dots) -> None:
    x, y = zip(*dots.points, strict=True)
    colour, diameter = to_rgba(dots.colour, dots.alpha), 2 * dots.radius * POINT
    axes.plot(x, y, "o", color=colour, markersize=diameter, markeredgewidth=0)


def _add_text(axes: Axes, text: Text) -> None:
    added = axes.text(text.x, text.y, text.text, fontsize=text.size * POINT, color=text.colour, parse_math=False)
    if text.bold:
        added.set_fontweight("bold")
    if text.monospace:
        added.set_fontfamily("monospace")
    if text.centred or text.turned:
        added.set_horizontalalignment("center")
    if text.turned:
        added.set(rotation=-90, verticalalignment="top")
    if text.haloed:
        added.set_bbox({"facecolor": "white", "linewidth": 0, "pad": 1.0, "alpha": 0.8})
