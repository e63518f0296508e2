"""Token scores as a picture that stands alone: SVG written by hand, so that text stays text."""

import unicodedata
from collections.abc import Iterable, Sequence
from html import escape

from whence.figures.token_shading import Line, Scores, Shading, blend, lines, score_text

SIZE = 13.0  # the height of letters, in pixels
LETTER = 0.61 * SIZE  # the width of a letter of a typewriter font
ROW = 22.0
FONT = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace"


def as_svg(tokens: Sequence[str], scores: Scores, width: int = 420, shading: Shading = "strongest") -> str:
    """Each method's name and scale, and under it its tokens on shaded ground, broken into lines of that width."""
    parts: list[str] = []
    top = 6.0
    for line in lines(tokens, scores, shading):
        for heading in filter(None, (line.method, line.scale)):
            short = heading if len(heading) <= (width - 8) / LETTER else heading[: int((width - 8) / LETTER) - 1] + "…"
            parts.append(f'<text x="4" y="{top + 10:g}" font-size="11" fill="#555">{escape(short)}</text>')
            top += 15
        boxes = list(placed(line, width))
        parts += [_drawn(x, top + y, token, shade, score) for x, y, token, shade, score in boxes]
        top += ROW + max((y for _, y, *_ in boxes), default=0.0) + 12
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top:g}" width="{width}" height="{top:g}"'
    ground = f'<rect width="{width}" height="{top:g}" fill="#fff"/>'
    return f'{head} font-family="{FONT}" role="img" aria-label="scores of tokens">{ground}{"".join(parts)}</svg>'


def placed(line: Line, width: int) -> Iterable[tuple[float, float, str, float, str]]:
    """Where each token goes: left to right, a new line when the width is used up."""
    x, y = 4.0, 0.0
    for token, shade, score in zip(line.tokens, line.shades, line.scores, strict=True):
        for piece in _pieces(token, int((width - 16) / LETTER)):
            wide = width_of(piece)
            if x > 4 and x + wide > width - 4:
                x, y = 4.0, y + ROW
            yield x, y, piece, shade, score_text(score, line.signed)
            x += wide + 4


def _pieces(token: str, longest: int) -> list[str]:
    """A token longer than a line, in pieces that fit."""
    return [token[start : start + longest] for start in range(0, len(token), longest)] or [" "]


def width_of(text: str) -> float:
    """How wide a token is drawn, in pixels."""
    cells = sum(
        2 if unicodedata.east_asian_width(letter) in "WF" else not unicodedata.combining(letter) for letter in text
    )
    return cells * LETTER + 6


def _drawn(x: float, y: float, token: str, shade: float, score: str) -> str:
    """A shaded box with the token in its middle, the score as its tooltip."""
    red, green, blue = blend(shade)
    wide = width_of(token)
    return (
        f'<g><title>{escape(score)}</title><rect x="{x:.1f}" y="{y:g}" width="{wide:.1f}" height="{ROW - 3:g}" rx="3" '
        f'fill="rgb({red},{green},{blue})"/><text x="{x + wide / 2:.1f}" y="{y + 14:g}" text-anchor="middle" '
        f'font-size="{SIZE:g}" fill="#111" unicode-bidi="isolate">{escape(token)}</text></g>'
    )
