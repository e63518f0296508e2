"""A flow diagram as a list of shapes for SVG and PDF: lines, dots and texts, with coordinates in pixels."""

import textwrap
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from whence.figures.flow.captions import HOW_TO_READ, describe_flow, heading, scales
from whence.figures.flow.layout import FAINTEST, FANS, Layout, Lines, Scale, alpha_of, bound, darkest_dot, layout, lines
from whence.figures.flow.model import Flow
from whence.figures.style import INK, PALE, PALETTE, QUIET
from whence.figures.tokens.drawing import SIZE

BLUE = PALETTE[0]
LETTER, BOLD = 6.6, 7.7  # the width of a letter of the caption and of the heading, in pixels
CAPTION, STEP = 11.5, 17.0  # the height of the caption's letters and of its lines
NAME = 12.0  # the height of the letters of rows and columns
STEPS = 100  # of opacity: shapes of one step are drawn together
Point = tuple[float, float]
Segment = tuple[float, float, float, float]  # from x, y to x, y


@dataclass(frozen=True)
class Strokes:
    """Thin blue lines of one opacity."""

    alpha: float
    segments: Sequence[Segment]


@dataclass(frozen=True)
class Dots:
    """Dots of one colour, opacity and radius."""

    alpha: float
    points: Sequence[Point]
    radius: float
    colour: str = BLUE


@dataclass(frozen=True)
class Text:
    """A line of text: (x, y) is where its baseline begins, or its middle if `centred`.

    A `turned` text runs downwards from (x, y). A `haloed` text has a white outline over lines. `title` is its tooltip.
    """

    x: float
    y: float
    text: str
    size: float = NAME
    colour: str = INK
    bold: bool = False
    centred: bool = False
    monospace: bool = False
    turned: bool = False
    haloed: bool = False
    title: str = ""


@dataclass(frozen=True)
class Drawing:
    """All shapes of a flow diagram, from back to front."""

    width: float
    height: float
    title: str
    description: str
    strokes: tuple[Strokes, ...]
    dots: tuple[Dots, ...]
    texts: tuple[Text, ...]


def draw_flow(flow: Flow, scale: Scale = "strongest") -> Drawing:
    """The flow from the prediction at the top to the tokens at the bottom, with a caption that explains it."""
    places, drawn, darkest = layout(flow), lines(flow, scale), darkest_dot(flow, scale)
    caption = _caption([HOW_TO_READ, scales(flow, drawn, darkest)], places)
    return Drawing(
        width=places.width,
        height=places.height + STEP * (len(caption) + 1),
        title=heading(flow),
        description=describe_flow(flow),
        strokes=(*_strokes(_fans(flow, places, darkest, scale)), *_strokes(_segments(places, drawn))),
        dots=tuple(_dots(flow, places, darkest, scale)),
        texts=(*_names(flow, places), *_tokens(flow, places), *caption),
    )


def _segments(places: Layout, drawn: Lines) -> Iterable[tuple[float, Segment]]:
    """The lines within heads, from faint to dark: opacity, start and end of each."""
    for alpha, (level, head, query, key) in zip(drawn.alpha, drawn.at, strict=True):
        upper, lower = places.x[head, query], places.x[head, key]
        yield float(alpha), (upper, places.y[level + 1], lower, places.y[level])


def _fans(flow: Flow, places: Layout, darkest: float, scale: Scale) -> Iterable[tuple[float, Segment]]:
    """The lines from the prediction to the top row (Eq. 8), and from the bottom row to the tokens (Eq. 11)."""
    x, y = places.prediction
    words = np.array([label.x for label in places.labels])
    for amounts, down in ((np.tile(flow.readout, (flow.heads, 1)), False), (flow.nodes[0], True)):
        alpha = alpha_of(amounts, darkest, scale)  # [head token]
        for head, token in np.argwhere(amounts >= bound(amounts, FANS)):
            point = places.x[head, token]
            ends = (point, places.y[0], words[token], places.text_top - 3) if down else (x, y, point, places.y[-1])
            yield float(alpha[head, token]), ends


def _strokes(segments: Iterable[tuple[float, Segment]]) -> Iterable[Strokes]:
    """Lines of equal opacity together; lines too faint to see are left out."""
    steps: dict[int, list[Segment]] = defaultdict(list)
    for alpha, segment in segments:
        if alpha >= FAINTEST:
            steps[round(STEPS * alpha)].append(segment)
    return [Strokes(step / STEPS, steps[step]) for step in sorted(steps)]


def _dots(flow: Flow, places: Layout, darkest: float, scale: Scale) -> Iterable[Dots]:
    """A pale dot for every token, over it what has arrived there, and the prediction."""
    shares = np.rint(STEPS * alpha_of(flow.nodes, darkest, scale)).astype(int)  # [level head token]
    x = np.broadcast_to(places.x, shares.shape)
    y = np.broadcast_to(places.y[:, None, None], shares.shape)
    yield Dots(1.0, list(zip(x.ravel(), y.ravel(), strict=True)), places.radius, PALE)
    for step in np.unique(shares[shares > 0]).tolist():
        here, alpha = shares == step, step / STEPS
        yield Dots(alpha, list(zip(x[here], y[here], strict=True)), places.size(alpha))
    yield Dots(1.0, [places.prediction], 5.0)


def _names(flow: Flow, places: Layout) -> Iterable[Text]:
    """The heading, and the names of rows and columns."""
    x, y = places.prediction
    yield Text(12.0, 18.0, _heading_line(flow, places), 13.0, bold=True)
    yield Text(x, y - 9, "prediction", centred=True)
    for level, row in enumerate(places.y):
        yield Text(12.0, row + 4, f"layer {level - 1}" if level else "input", colour=QUIET)
    for head in range(flow.heads):
        middle = places.x[head].mean()
        yield Text(middle, places.y[-1] - 12, head_name(flow, places, head), centred=True, haloed=True)
    yield Text(12.0, places.text_top + SIZE, "tokens", colour=QUIET)


def _tokens(flow: Flow, places: Layout) -> Iterable[Text]:
    """The tokens, darker the more attention has arrived; the tooltip is the whole token and its score."""
    y = places.text_top + (0 if places.upright else SIZE)
    for label, score, ink in zip(places.labels, flow.scores, inks(flow), strict=True):
        yield Text(
            label.x,
            y,
            label.text,
            SIZE,
            ink,
            centred=not places.upright,
            monospace=True,
            turned=places.upright,
            title=f"{label.whole}: {score:.3g}",
        )


def _caption(sentences: Iterable[str], places: Layout) -> list[Text]:
    """Paragraphs below the picture, wrapped to its width."""
    letters = max(int((places.width - 24) / LETTER), 30)
    written = [line for text in sentences for line in textwrap.wrap(text, letters)]
    return [Text(12.0, places.height + STEP * (number + 1), line, CAPTION) for number, line in enumerate(written)]


def _heading_line(flow: Flow, places: Layout) -> str:
    """The heading, cut to the width of the picture."""
    return textwrap.shorten(heading(flow), int((places.width - 24) / BOLD), placeholder="…")


def head_name(flow: Flow, places: Layout, head: int) -> str:
    """A head's name, or its number alone where columns are narrow."""
    column = (places.x[-1, 0] - places.x[0, 0]) / max(flow.heads - 1, 1)
    return f"head {head}" if flow.heads == 1 or column >= 56 else str(head)


def inks(flow: Flow) -> list[str]:
    """The colour of each token's text: from a readable grey, for the lowest score, to black."""
    least, largest = flow.extremes
    greys = [round(0x76 * min((largest - score) / ((largest - least) or 1.0), 1.0)) for score in flow.scores]
    return [f"#{grey:02x}{grey:02x}{grey:02x}" for grey in greys]
