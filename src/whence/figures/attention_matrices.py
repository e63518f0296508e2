"""Attention from words to words as squares, one matrix below the other (Varano 2019 Fig. 4)."""

import textwrap
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whence.core.errors import BadData
from whence.figures.heatmap import SHADES
from whence.figures.style import INK, WIDTH, apart, house
from whence.figures.token_shading import visible

MOST = 16  # words
LINE = 58  # letters of a line of a title


def attention_matrices(panels: Mapping[str, tuple[Sequence[str], Sequence[Sequence[float]]]]) -> Figure:
    """For each title words and weights [query key]: a row is a word that attends; numbers are per cent."""
    sizes = [len(words) for words, _ in panels.values()]
    if not sizes or max(sizes) > MOST:
        raise BadData(f"expected one matrix or more of at most {MOST} words; came {sizes or 'none'}")
    with house():
        figure, axes = apart([WIDTH * 0.78 + 0.75 for _ in sizes])
        for place, (title, (words, weights)) in zip(axes, panels.items(), strict=True):
            draw(place, title, [visible(word) for word in words], np.asarray(weights, float))
    return figure


def draw(axes: Axes, title: str, words: Sequence[str], weights: np.ndarray) -> None:
    """One matrix; white is nothing, the darkest its largest weight."""
    top = max(float(weights.max()), 1e-9)
    axes.imshow(weights, cmap=SHADES, vmin=0, vmax=top, aspect="auto")
    for query, row in enumerate(weights.tolist()):
        for key, weight in enumerate(row):
            axes.text(
                key,
                query,
                f"{100 * weight:.0f}",
                ha="center",
                va="center",
                fontsize=7,
                color="white" if weight > 0.75 * top else INK,
            )
    places = range(len(words))
    axes.set_xticks(places, words, rotation=45, ha="left", rotation_mode="anchor", fontsize=8)
    axes.set_yticks(places, words, fontsize=8)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel(textwrap.fill(title, LINE), fontsize=8.5)
