"""The layout of a flow diagram, and the opacity of its lines, for all output formats.

Columns are heads and rows are layers; within a column the tokens are side by side, in order. A line joins a token to
one that it attends to in the layer below.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from whence.figures.flow.model import Flow
from whence.figures.token_shading import visible
from whence.figures.tokens.drawing import SIZE, width_of

LEFT, RIGHT, TOP = 84.0, 16.0, 50.0  # pixels left, right and above the columns
WIDEST = 1000.0  # of all columns, where the tokens are not too many for it
NARROWEST, CLOSEST, FARTHEST = 640.0, 1.9, 16.0  # of all columns; from a token of a head to the next
SLOT = 17.0  # the least room for a token's text, turned upright
LONGEST = 16  # letters of a token that are written
LINES = 6000  # as many are drawn; beyond that nothing can be distinguished, and files become large
DARK = 3.2  # the least radius of the darkest dot
FANS = 240  # lines from the prediction, and to the tokens
THIN = 1.1  # the width of lines
FAINTEST = 0.05  # of a line that can just be seen
LINE, DOT = 0.25, 0.5  # of a head's attention: where nothing carries as much, no line, and no dot, is quite dark
Scale = Literal["strongest", "authors"]
POWER = {"strongest": 2 / 3, "authors": 1.0}


@dataclass(frozen=True)
class Label:
    """A token's text: the position of its middle (or, if upright, its beginning), the text drawn, and all of it."""

    x: float
    text: str
    whole: str


@dataclass(frozen=True, eq=False)
class Layout:
    """Pixels. `x` [head token] and `y` [level] are the positions of dots; `prediction` is where all lines begin."""

    width: float
    height: float
    x: Float[ndarray, "head token"]
    y: Float[ndarray, " level"]
    radius: float
    prediction: tuple[float, float]
    labels: tuple[Label, ...]
    upright: bool  # whether the tokens' text is turned
    text_top: float  # where the tokens' text begins

    def size(self, alpha: float) -> float:
        """The radius of a dot; where dots are small, the dark ones grow over their neighbours."""
        return round(self.radius + max(DARK - self.radius, 0) * alpha, 2)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "width": self.width,
            "height": self.height,
            "x": self.x.round(2).tolist(),
            "y": self.y.round(2).tolist(),
            "radius": self.radius,
            "prediction": self.prediction,
            "upright": self.upright,
            "top": self.text_top,
            "labels": [[round(label.x, 2), label.text, label.whole] for label in self.labels],
        }


def layout(flow: Flow) -> Layout:
    """The positions of a flow's dots and words."""
    size, heads = len(flow.tokens), flow.heads
    gap = 26.0 if size * heads < 200 else 14.0
    inner = min(max(size * heads * FARTHEST, NARROWEST), max(WIDEST, heads * ((size - 1) * CLOSEST + gap)))
    inner = max(inner, size * SLOT)
    column = inner / heads
    pitch = min((column - gap) / max(size - 1, 1), column / (size + 0.8), 3 * FARTHEST)  # columns stay distinct
    middles = LEFT + column * (np.arange(heads) + 0.5)  # [head]
    x = middles[:, None] + pitch * (np.arange(size) - (size - 1) / 2)  # [head token]
    row = 60.0 if flow.depth <= 6 else max(44.0 - 1.0 * (flow.depth - 12), 24.0) if flow.depth > 12 else 48.0
    first = TOP + 70.0
    y = first + row * (flow.depth - np.arange(flow.depth + 1))  # [level]
    labels, upright = _labels(flow.tokens, LEFT, inner)
    text_top = float(y[0]) + (64.0 if size <= 24 else 84.0)
    deepest = max(width_of(label.text) for label in labels) if upright else SIZE + 8
    return Layout(
        LEFT + inner + RIGHT,
        text_top + deepest + 6,
        x,
        y,
        round(min(max(0.4 * pitch, 0.8), 5.0), 2),
        (LEFT + inner / 2, TOP),
        labels,
        upright,
        text_top,
    )


def _labels(tokens: Sequence[str], left: float, inner: float) -> tuple[tuple[Label, ...], bool]:
    """The tokens side by side below all columns; upright if one is too wide for its slot, and cut if very long."""
    slot = inner / len(tokens)
    shown = [visible(token) for token in tokens]
    short = [text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…" for text in shown]
    upright = any(width_of(text) > slot - 4 for text in short)
    places = [left + slot * (number + 0.5) for number in range(len(tokens))]
    return tuple(Label(*one) for one in zip(places, short, shown, strict=True)), upright


@dataclass(frozen=True, eq=False)
class Lines:
    """The lines that are drawn, from faint to dark, and a summary of the others."""

    at: Int[ndarray, "line 4"]  # depth, head, query, key
    alpha: Float[ndarray, " line"]
    darkest: float  # the amount of attention that alpha 1 stands for
    least: float  # the amount below which lines are left out
    left_out: int
    carried: float  # the share of all attention that goes along the drawn lines


def lines(flow: Flow, scale: Scale = "strongest", most: int = LINES) -> Lines:
    """Lines as dark as the amount of attention that they carry: their weight × what arrived at their upper end.

    Lines too faint to see are left out, and if more than `most` remain, the faintest of them.
    """
    amounts = flow.amounts  # [depth head query key]
    darkest = 1.0 if scale == "authors" else max(float(amounts.max()), LINE)
    least = max(darkest * ((FAINTEST - 0.003) / 0.997) ** (1 / POWER[scale]), bound(amounts, most))
    kept = np.argwhere(amounts >= least)  # [line 4]
    drawn = amounts[tuple(kept.T)]  # [line]
    order = np.argsort(drawn, kind="stable")
    whole = float(amounts.sum())
    return Lines(
        kept[order],
        alpha_of(drawn[order], darkest, scale),
        darkest,
        least,
        amounts.size - len(kept),
        float(drawn.sum()) / whole if whole else 0.0,
    )


def bound(amounts: Float[ndarray, "*any"], most: int) -> float:
    """The smallest amount that leaves no more than `most`: just above the strongest that is left out."""
    if amounts.size <= most:
        return 0.0
    return float(np.nextafter(np.partition(amounts, -most - 1, axis=None)[-most - 1], np.inf))


def alpha_of(amount: Float[ndarray, "*any"], darkest: float, scale: Scale) -> Float[ndarray, "*any"]:
    """How dark a line or dot is: .997 · amount + .003 with the scale `authors`, as in the code of Wu et al. 2020.

    *Differs from the paper*: with `strongest` it is .997 · (amount / darkest)^⅔ + .003, since with many tokens and
    layers amounts are so small that all would be white. Lines are darkest at the largest amount, or a quarter of a
    head's attention (dots: half) if none carries as much, so that attention that is spread evenly looks pale.
    """
    return 0.997 * np.minimum(amount / darkest, 1.0) ** POWER[scale] + 0.003


def darkest_dot(flow: Flow, scale: Scale) -> float:
    """The amount of attention of the darkest dot."""
    return 1.0 if scale == "authors" else float(max(flow.nodes.max(), flow.readout.max(), DOT))
