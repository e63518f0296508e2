"""Attention from the words of a translation to those of its text (Bahdanau et al. 2015, Fig. 3; Mrini et al. 2019 Fig.
1).
"""

import textwrap
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy import ndarray

from whence.core.errors import BadData
from whence.figures.heatmap import SHADES
from whence.figures.style import INK, PALETTE, QUIET, WIDTH, canvas, house
from whence.figures.token_shading import visible

MOST = 24  # words of a text
LINE = 66  # letters of a line below
FEW = 12  # words up to which weights are written as numbers


def alignment_heatmap(
    source: Sequence[str],
    target: Sequence[str],
    weights: Float[ndarray, "target source"],
    links: Sequence[tuple[int, int]] = (),
    title: str = "",
) -> Figure:
    """A row for each word of the translation, a column for each word of its text; darker is more weight.

    Reference links (source word, target word, counted from 0) have a frame. Numbers are per cent.
    """
    if weights.shape != (len(target), len(source)) or not 1 <= max(weights.shape) <= MOST or not min(weights.shape):
        raise BadData(
            f"expected weights [target source] between texts of 1 to {MOST} words; came {weights.shape} for"
            f" {len(target)} and {len(source)} words"
        )
    side = (WIDTH - 1.1) / len(source)
    with house():
        figure, axes = canvas(height=min(max(0.24 * len(target), side * len(target)), 6.0) + 1.3)
        _squares(axes, weights)
        for key, query in links:
            axes.add_patch(
                Rectangle((key - 0.46, query - 0.46), 0.92, 0.92, fill=False, edgecolor=PALETTE[1], linewidth=1.8)
            )
        _dress(axes, [visible(word) for word in source], [visible(word) for word in target], title, bool(links))
    return figure


def _squares(axes: Axes, weights: Float[ndarray, "target source"]) -> None:
    """White is nothing, the darkest the largest weight; numbers where there is room for them."""
    top = max(float(weights.max()), 1e-9)
    axes.imshow(weights, cmap=SHADES, vmin=0, vmax=top, aspect="auto")
    if weights.shape[1] > FEW:
        return
    for (query, key), weight in np.ndenumerate(weights):
        axes.text(
            key,
            query,
            f"{100 * weight:.0f}",
            ha="center",
            va="center",
            fontsize=7,
            color="white" if weight > 0.75 * top else INK,
        )


def _dress(axes: Axes, source: list[str], target: list[str], title: str, linked: bool) -> None:
    """Words above and at the left, what it is below."""
    small = 8 if max(len(source), len(target)) <= 16 else 6.5
    axes.set_xticks(range(len(source)), source, rotation=45, ha="left", rotation_mode="anchor", fontsize=small)
    axes.set_yticks(range(len(target)), target, fontsize=small)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    note = "columns: the text; rows: its translation" + "; frames: reference links" * linked
    axes.set_xlabel("\n".join([*textwrap.wrap(title, LINE), note]), fontsize=8.5, color=QUIET)
