"""Token scores as headings and shaded boxes for SVG and PDF, with coordinates in pixels."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from whence.figures.token_shading import Line, Scores, Shading, blend, lines, score_text

SIZE = 13.0  # the height of letters
HEADING = 11.0  # of those of headings
LETTER = 0.61 * SIZE  # the width of a letter of a monospaced font
ROW = 22.0
BOX = ROW - 3.0  # the height of a box
BASELINE = 14.0  # of a token, below the top of its box
QUIET, BLACK = "#555555", "#111111"


@dataclass(frozen=True)
class Heading:
    """A method's name, or its scale; (x, y) is where the baseline begins."""

    x: float
    y: float
    text: str


@dataclass(frozen=True)
class Box:
    """A token in the middle of a shaded box; (x, y) is the box's upper left corner."""

    x: float
    y: float
    width: float
    token: str
    colour: tuple[int, int, int]
    score: str


@dataclass(frozen=True)
class Drawing:
    """What a picture of token scores shows."""

    width: float
    height: float
    headings: tuple[Heading, ...]
    boxes: tuple[Box, ...]


def draw_tokens(tokens: Sequence[str], scores: Scores, width: int = 420, shading: Shading = "strongest") -> Drawing:
    """Each method's name and scale, and below it its tokens in shaded boxes, wrapped to that width."""
    headings: list[Heading] = []
    boxes: list[Box] = []
    top, letters = 6.0, int((width - 8) / LETTER)
    for line in lines(tokens, scores, shading):
        for text in filter(None, (line.method, line.scale)):
            headings.append(Heading(4.0, top + 10, text if len(text) <= letters else text[: letters - 1] + "…"))
            top += 15
        mine = list(_boxes(line, width, top))
        boxes += mine
        top = max((box.y for box in mine), default=top) + ROW + 12
    return Drawing(float(width), top, tuple(headings), tuple(boxes))


def _boxes(line: Line, width: int, top: float) -> Iterable[Box]:
    """Boxes from left to right, with a new row when the width is used up."""
    x, y = 4.0, top
    for token, shade, score in zip(line.tokens, line.shades, line.scores, strict=True):
        for part in _parts(token, int((width - 16) / LETTER)):
            wide = width_of(part)
            if x > 4 and x + wide > width - 4:
                x, y = 4.0, y + ROW
            yield Box(x, y, wide, part, blend(shade), score_text(score, line.signed))
            x += wide + 4


def _parts(token: str, longest: int) -> list[str]:
    """A token longer than a row, in parts that fit."""
    return [token[start : start + longest] for start in range(0, len(token), longest)] or [" "]


def width_of(text: str) -> float:
    """How wide a token is drawn, in pixels."""
    cells = sum(
        2 if unicodedata.east_asian_width(letter) in "WF" else not unicodedata.combining(letter) for letter in text
    )
    return cells * LETTER + 6
