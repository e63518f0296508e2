"""Attention from words to words as squares, one matrix below the other (Varano 2019 Fig. 4)."""

import textwrap
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy import ndarray

from whence.core.errors import BadData
from whence.figures.heatmap import SHADES
from whence.figures.style import INK, WIDTH, apart, house
from whence.figures.token_shading import visible

MOST = 16  # words
LINE = 58  # letters of a line of a title


def attention_matrices(panels: Mapping[str, tuple[Sequence[str], Sequence[Sequence[float]]]]) -> Figure:
    """One panel per title, with its words and weights [query key]: each row is a word that attends; numbers in per
    cent.
    """
    sizes = [len(words) for words, _ in panels.values()]
    if not sizes or max(sizes) > MOST:
        raise BadData(f"expected one matrix or more of at most {MOST} words; got {sizes or 'none'}")
    with house():
        figure, axes = apart([WIDTH * 0.78 + 0.75 for _ in sizes])
        for place, (title, (words, weights)) in zip(axes, panels.items(), strict=True):
            draw(place, title, [visible(word) for word in words], np.asarray(weights, float))
    return figure


def draw(axes: Axes, title: str, words: Sequence[str], weights: Float[ndarray, "query key"]) -> None:
    """One matrix with its words and its title."""
    squares(axes, weights)
    word_ticks(axes, words, words, 8.0)
    axes.set_xlabel(textwrap.fill(title, LINE), fontsize=8.5)


def squares(axes: Axes, weights: Float[ndarray, "query key"], most: int = MOST) -> None:
    """The weights as squares, white for zero, the darkest for the largest; with numbers up to so many keys."""
    top = max(float(weights.max()), 1e-9)
    axes.imshow(weights, cmap=SHADES, vmin=0, vmax=top, aspect="auto")
    if weights.shape[1] > most:
        return
    for (query, key), weight in np.ndenumerate(weights):
        colour = "white" if weight > 0.75 * top else INK
        axes.text(key, query, f"{100 * weight:.0f}", ha="center", va="center", fontsize=7, color=colour)


def word_ticks(axes: Axes, keys: Sequence[str], queries: Sequence[str], size: float) -> None:
    """The words: of the keys above, slanted, of the queries at the left."""
    axes.set_xticks(range(len(keys)), keys, rotation=45, ha="left", rotation_mode="anchor", fontsize=size)
    axes.set_yticks(range(len(queries)), queries, fontsize=size)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
