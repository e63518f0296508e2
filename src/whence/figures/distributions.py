"""Distributions of numbers between two limits: a violin for each name, one below the other."""

from collections.abc import Mapping
from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whence.figures.style import PALETTE, QUIET, canvas, house
from whence.figures.token_shading import visible
from whence.figures.violins import one_violin

WRAPPED = 24  # letters of a name in a line


def distributions(
    named: Mapping[str, pd.Series],
    x_label: str = "",
    missing: str = "missing",
    limits: tuple[float, float] = (0.0, 1.0),
    each: float = 0.36,
) -> Figure:
    """A violin of each series with its median and quartiles, each `each` inches high; the number of `missing` values is
    written next to it.
    """
    with house():
        figure, axes = canvas(height=0.8 + each * len(named))
        draw(axes, named, x_label, missing, limits)
    return figure


def draw(
    axes: Axes,
    named: Mapping[str, pd.Series],
    x_label: str = "",
    missing: str = "missing",
    limits: tuple[float, float] = (0.0, 1.0),
) -> None:
    """The same on existing axes."""
    from_below = list(named.items())[::-1]
    for row, (_, values) in enumerate(from_below):
        numbers, colour = values.to_numpy(dtype=float), PALETTE[(len(named) - 1 - row) % len(PALETTE)]
        there = numbers[np.isfinite(numbers)]
        one_violin(axes, there, row + 0.1, 0.75, colour)
        if there.size < numbers.size:
            axes.text(
                1.02,
                row - 0.2,
                f"{missing}: {numbers.size - there.size}",
                transform=axes.get_yaxis_transform(),
                va="center",
                fontsize=8.5,
                color=QUIET,
            )
    margin = 0.01 * (limits[1] - limits[0])
    axes.set(xlim=(limits[0] - margin, limits[1] + margin), ylim=(-0.5, len(named) - 0.4), xlabel=visible(x_label))
    if limits[0] < 0:
        axes.axvline(0, color=QUIET, linewidth=0.6, zorder=0)
    axes.set_yticks(np.arange(len(named)) + 0.1, [fill(visible(name), WRAPPED) for name, _ in from_below])
    axes.tick_params(axis="y", length=0)
