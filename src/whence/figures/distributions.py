"""Shares between 0 and 1, a violin for each name, one below the other."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whence.figures.shades import visible
from whence.figures.style import PALETTE, QUIET, canvas, house
from whence.figures.violins import one_violin


def distributions(named: Mapping[str, pd.Series], x_label: str = "", missing: str = "missing") -> Figure:
    """A violin of each series with its median and quartiles; how many values are `missing` is written beside it."""
    with house():
        figure, axes = canvas(height=0.8 + 0.36 * len(named))
        draw(axes, named, x_label, missing)
    return figure


def draw(axes: Axes, named: Mapping[str, pd.Series], x_label: str = "", missing: str = "missing") -> None:
    """The same on axes that are there."""
    from_below = list(named.items())[::-1]
    for row, (_, values) in enumerate(from_below):
        numbers, colour = values.to_numpy(dtype=float), PALETTE[(len(named) - 1 - row) % len(PALETTE)]
        there = numbers[np.isfinite(numbers)]
        one_violin(axes, there, row + 0.1, 0.75, colour)
        if there.size < numbers.size:
            axes.text(1.02, row - 0.2, f"{missing}: {numbers.size - there.size}",
                      transform=axes.get_yaxis_transform(), va="center", fontsize=8.5, color=QUIET)  # fmt: skip
    axes.set(xlim=(-0.01, 1.01), ylim=(-0.5, len(named) - 0.4), xlabel=visible(x_label))
    axes.set_yticks(np.arange(len(named)) + 0.1, [visible(name) for name, _ in from_below])
    axes.tick_params(axis="y", length=0)
