"""Token scores as SVG, written by hand, so that text stays text."""

from collections.abc import Sequence
from html import escape

from whence.figures.token_shading import Scores, Shading
from whence.figures.tokens.drawing import BASELINE, BLACK, BOX, HEADING, QUIET, SIZE, Box, Heading, draw_tokens

FONT = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace"


def as_svg(tokens: Sequence[str], scores: Scores, width: int = 420, shading: Shading = "strongest") -> str:
    """Each method's name and scale, and below it its tokens in shaded boxes, wrapped to that width."""
    drawing = draw_tokens(tokens, scores, width, shading)
    size = f'width="{drawing.width:g}" height="{drawing.height:g}"'
    shapes = "".join([*map(_heading, drawing.headings), *map(_box, drawing.boxes)])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {drawing.width:g} {drawing.height:g}" {size} '
        f'font-family="{FONT}" role="img" aria-label="scores of tokens"><rect {size} fill="#fff"/>{shapes}</svg>'
    )


def _heading(heading: Heading) -> str:
    place = f'x="{heading.x:g}" y="{heading.y:g}"'
    return f'<text {place} font-size="{HEADING:g}" fill="{QUIET}">{escape(heading.text)}</text>'


def _box(box: Box) -> str:
    """A shaded box with the token in its middle, the score as its tooltip."""
    red, green, blue = box.colour
    return (
        f'<g><title>{escape(box.score)}</title><rect x="{box.x:.1f}" y="{box.y:g}" width="{box.width:.1f}" '
        f'height="{BOX:g}" rx="3" fill="rgb({red},{green},{blue})"/>'
        f'<text x="{box.x + box.width / 2:.1f}" y="{box.y + BASELINE:g}" text-anchor="middle" '
        f'font-size="{SIZE:g}" fill="{BLACK}" unicode-bidi="isolate">{escape(box.token)}</text></g>'
    )
