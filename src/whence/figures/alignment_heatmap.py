"""Attention from the words of a translation to the words of its source (Bahdanau et al. 2015 Fig. 3; Mrini et al. 2019
Fig. 1).
"""

import textwrap
from collections.abc import Sequence

from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy import ndarray

from whence.core.errors import BadData
from whence.figures.attention_matrices import squares, word_ticks
from whence.figures.style import PALETTE, QUIET, WIDTH, canvas, house
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
    """A row for each word of the translation, a column for each source word; darker is more weight.

    Reference links (source word, target word, counted from 0) are framed. Numbers are per cent.
    """
    if weights.shape != (len(target), len(source)) or not 1 <= max(weights.shape) <= MOST or not min(weights.shape):
        raise BadData(
            f"expected weights [target source] between texts of 1 to {MOST} words; got {weights.shape} for"
            f" {len(target)} and {len(source)} words"
        )
    side = (WIDTH - 1.1) / len(source)
    with house():
        figure, axes = canvas(height=min(max(0.24 * len(target), side * len(target)), 6.0) + 1.3)
        squares(axes, weights, FEW)
        for key, query in links:
            axes.add_patch(
                Rectangle((key - 0.46, query - 0.46), 0.92, 0.92, fill=False, edgecolor=PALETTE[1], linewidth=1.8)
            )
        _dress(axes, [visible(word) for word in source], [visible(word) for word in target], title, bool(links))
    return figure


def _dress(axes: Axes, source: list[str], target: list[str], title: str, linked: bool) -> None:
    """Words above and at the left; title and explanation below."""
    word_ticks(axes, source, target, 8.0 if max(len(source), len(target)) <= 16 else 6.5)
    note = "columns: the text; rows: its translation" + "; frames: reference links" * linked
    axes.set_xlabel("\n".join([*textwrap.wrap(title, LINE), note]), fontsize=8.5, color=QUIET)
