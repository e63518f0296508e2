"""Bars from the largest value down, each with its name at the left and its interval."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whence.core.errors import BadData
from whence.figures.style import INK, PALETTE, canvas, house
from whence.figures.token_shading import visible
from whence.figures.violins import refuse_missing

MOST = 30  # bars
EACH = 0.25  # inches: a bar and the gap below it


def ranking(table: pd.DataFrame, name: str, value: str, low: str, high: str, x_label: str = "") -> Figure:
    """A bar of `value` for each row, in the order of the table, with a line from `low` to `high`.

    Bars below zero are of another colour.
    """
    with house():
        figure, axes = canvas(height=EACH * len(table) + 0.75)
        draw(axes, table, name, value, low, high, x_label)
    return figure


def draw(axes: Axes, table: pd.DataFrame, name: str, value: str, low: str, high: str, x_label: str = "") -> None:
    """The same on existing axes."""
    refuse_missing(table, [name, value])
    if not 1 <= len(table) <= MOST:
        raise BadData(f"a ranking has one to {MOST} bars; got {len(table)}")
    values: Sequence[float] = table[value].tolist()
    places = range(len(table))
    axes.barh(places, values, 0.75, color=[PALETTE[0] if one >= 0 else PALETTE[1] for one in values], alpha=0.75)
    for place, begin, end in zip(places, table[low].tolist(), table[high].tolist(), strict=True):
        axes.plot([begin, end], [place, place], color=INK, linewidth=1.2, solid_capstyle="butt")
    axes.axvline(0, color=INK, linewidth=0.9)
    axes.set_yticks(places, [visible(str(one)) for one in table[name]], fontsize=8.5)
    axes.set(ylim=(len(table) - 0.4, -0.6), xlabel=visible(x_label or value))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
