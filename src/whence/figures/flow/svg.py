"""A flow diagram as SVG, written by hand, so that text stays text."""

from collections.abc import Iterable
from html import escape
from itertools import groupby

from whence.figures.flow.drawing import BLUE, Dots, Strokes, Text, draw_flow
from whence.figures.flow.layout import THIN, Scale
from whence.figures.flow.model import Flow
from whence.figures.style import INK
from whence.figures.tokens.svg import FONT

SANS = "'DejaVu Sans',system-ui,sans-serif"


def as_svg(flow: Flow, scale: Scale = "strongest") -> str:
    """The diagram as a self-contained SVG."""
    drawing = draw_flow(flow, scale)
    width, height = round(drawing.width), round(drawing.height)
    shapes = (_strokes(drawing.strokes), *_dots(drawing.dots), *map(_text, drawing.texts))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="{SANS}" fill="{INK}" role="img"><title>{escape(drawing.title)}</title>'
        f'<desc>{escape(drawing.description)}</desc><rect width="{width}" height="{height}" fill="#fff"/>'
        f"{''.join(shapes)}</svg>"
    )


def _strokes(strokes: Iterable[Strokes]) -> str:
    """One path for the lines of each opacity."""
    paths = []
    for group in strokes:
        ends = "".join(f"M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}" for x, y, to_x, to_y in group.segments)
        paths.append(f'<path d="{ends}" stroke-opacity="{group.alpha:g}"/>')
    return f'<g fill="none" stroke="{BLUE}" stroke-width="{THIN}">{"".join(paths)}</g>'


def _dots(dots: Iterable[Dots]) -> Iterable[str]:
    """Lines of no length with round ends: one path for the dots of each opacity, one group for each colour."""
    for colour, groups in groupby(dots, lambda group: group.colour):
        paths = []
        for group in groups:
            points = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in group.points)
            paths.append(f'<path d="{points}" stroke-opacity="{group.alpha:g}" stroke-width="{2 * group.radius:g}"/>')
        yield f'<g fill="none" stroke-linecap="round" stroke="{colour}">{"".join(paths)}</g>'


def _text(text: Text) -> str:
    style = {
        "x": f"{text.x:.1f}",
        "y": f"{text.y:.1f}",
        "font-size": f"{text.size:g}",
        "fill": text.colour,
        "text-anchor": "middle" if text.centred else "start",
    }
    if text.bold:
        style["font-weight"] = "bold"
    if text.monospace:
        style |= {"font-family": FONT, "unicode-bidi": "isolate"}
    if text.haloed:
        style |= {"stroke": "#fff", "stroke-width": "4", "paint-order": "stroke"}
    if text.turned:
        style |= {"dy": "4.5", "transform": f"rotate(90 {text.x:.1f} {text.y:.1f})"}
    attributes = " ".join(f'{name}="{value}"' for name, value in style.items())
    title = f"<title>{escape(text.title)}</title>" if text.title else ""
    return f"<text {attributes}>{title}{escape(text.text)}</text>"
