"""Bars with their intervals, in groups one below the other (Vashishth et al. 2019 Fig. 1: base and uniform attention,
task by task).
"""

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from whence.core.errors import BadData
from whence.figures.style import INK, PALETTE, canvas, house
from whence.figures.token_shading import visible
from whence.figures.violins import refuse_missing
from whence.results.format_number import number

THICK = 0.24  # inches: a bar and the gap below it


def bars(
    table: pd.DataFrame,
    group: str,
    bar: str,
    value: str,
    low: str | None = None,
    high: str | None = None,
    x_label: str = "",
) -> Figure:
    """A bar of `value` for each `bar`, with a line from `low` to `high`, under the name of its `group`.

    Groups and bars are in the order of the table; a bar that a group lacks leaves a gap.
    """
    refuse_missing(table, [column for column in (group, bar, value, low, high) if column])
    names, groups = list(table[bar].unique()), list(table[group].unique())
    if not 1 <= len(names) <= len(PALETTE):
        raise BadData(f"a figure has one to {len(PALETTE)} bars a group; got {len(names)}")
    if table.duplicated([group, bar]).any():
        raise BadData(f"a group has each bar once; the table has several rows with the same {group} and {bar}")
    each = THICK * len(names) + 0.36  # inches of a group: its name, and the bars below it
    with house():
        figure, axes = canvas(height=each * len(groups) + 0.9)
        for place, name in enumerate(reversed(groups)):
            top = each * (place + 1) - 0.1
            axes.text(0, top, visible(str(name)), transform=axes.get_yaxis_transform(), va="top", fontsize=9.5)
            for row in table[table[group] == name].to_dict("records"):
                _bar(axes, row, names.index(row[bar]), top - 0.3, (value, low, high))
        _dress(axes, [visible(str(name)) for name in names], each * len(groups), visible(x_label or value))
    return figure


def _bar(
    axes: Axes, row: Mapping[Hashable, Any], colour: int, top: float, columns: tuple[str, str | None, str | None]
) -> None:
    """One bar, its interval, and its value as a number."""
    value, low, high = columns
    at, end = top - THICK * colour, row[value]
    axes.barh(at, end, 0.8 * THICK, color=PALETTE[colour], alpha=0.75, linewidth=0)
    axes.plot([0, 0], [at - THICK / 2, at + THICK / 2], color=INK, linewidth=0.9)
    if low and high:
        axes.plot([row[low], row[high]], [at, at], color=INK, linewidth=1.2, solid_capstyle="butt")
        end = max(end, row[high]) if end >= 0 else min(end, row[low])
    written = number(row[value], (row[high] - row[low],) if low and high else ())
    axes.annotate(
        written,
        (end, at),
        xytext=(4 if end >= 0 else -4, 0),
        textcoords="offset points",
        va="center",
        ha="left" if end >= 0 else "right",
        fontsize=8.5,
    )


def _dress(axes: Axes, names: list[str], top: float, x_label: str) -> None:
    """The legend above, and room for the numbers."""
    axes.margins(x=0.12)
    axes.set(ylim=(0, top), xlabel=x_label)
    axes.spines["left"].set_visible(False)
    axes.set_yticks([])
    marks = [Patch(color=PALETTE[number], alpha=0.75) for number in range(len(names))]
    axes.legend(marks, names, loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=2, fontsize=9, handlelength=1)
