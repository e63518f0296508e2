"""Lines over steps with their bands, a panel for each group, with a dotted base (Vashishth et al. 2019 Fig. 4)."""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from whence.core.errors import BadData
from whence.figures.style import INK, PALETTE, QUIET, house, panels
from whence.figures.token_shading import visible
from whence.figures.violins import refuse_missing

COLOURS = (*PALETTE, INK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")  # distinct also without colours


def curves(
    table: pd.DataFrame,
    x: str,
    y: str,
    line: str,
    panel: str | None = None,
    low: str | None = None,
    high: str | None = None,
    base: Mapping[str, float] | None = None,
    x_label: str = "",
    y_label: str = "",
    until: float | None = None,
) -> Figure:
    """A line of `y` by `x` for each value of `line`, with a band from `low` to `high`, in a panel for each of `panel`.

    `base` is the height of a panel's dotted line. All panels have the same scale; a single one needs no name. `until`
    is a value of x, marked by a dotted vertical line.
    """
    refuse_missing(table, [column for column in (x, y, line, panel, low, high) if column])
    names = [str(name) for name in table[line].unique()]
    if not 1 <= len(names) <= len(COLOURS):
        raise BadData(f"a figure has one to {len(COLOURS)} lines; got {len(names)}")
    groups = {str(name): rows for name, rows in table.groupby(panel, sort=False)} if panel else {"": table}
    with house():
        legend = 0.25 * math.ceil(len(names) / 2)  # above the first panel, which is higher by that much
        figure, axes = panels([2.2 + legend * (place == 0) for place in range(len(groups))])
        for place, (name, rows) in zip(axes, groups.items(), strict=True):
            for number, one in enumerate(names):
                band_line(place, rows[rows[line] == one].sort_values(x), (x, y, low, high), number, visible(one))
            _dress(place, name if len(groups) > 1 else "", (base or {}).get(name), y_label)
            if until is not None:
                place.axvline(until, color=QUIET, linewidth=1.0, linestyle=":")
        _alike(axes)
        axes[0].legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0 + 0.14 * (len(groups) > 1)), ncols=2, fontsize=9)
        axes[-1].set_xlabel(visible(x_label or x))
    return figure


def band_line(
    axes: Axes,
    rows: pd.DataFrame,
    columns: tuple[str, str, str | None, str | None],
    number: int,
    name: str,
    scale: float = 1.0,
) -> None:
    """One line with its dots and its band, from the columns x, y, low and high; the first line is on top."""
    x, y, low, high = (None if column is None else rows[column].to_numpy(dtype=float) for column in columns)
    assert x is not None
    assert y is not None
    if low is not None and high is not None:
        axes.fill_between(x, low, high, color=COLOURS[number], alpha=0.18, linewidth=0)
    axes.plot(
        x,
        y,
        color=COLOURS[number],
        marker=MARKERS[number],
        markersize=4 * scale,
        markeredgecolor="white",
        markeredgewidth=0.6 * scale,
        linewidth=1.6 * scale,
        label=name,
        zorder=2 + 1 / (1 + number),
    )


def _dress(axes: Axes, name: str, base: float | None, y_label: str) -> None:
    """The panel's name and its dotted line."""
    if base is not None:
        axes.axhline(base, color=QUIET, linewidth=1.0, linestyle=":")
    axes.set_title(visible(name), loc="left", fontsize=10)
    axes.set_ylabel(visible(y_label))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))


def _alike(axes: list[Axes]) -> None:
    """The same limits for all panels."""
    for get, put in (("get_xlim", "set_xlim"), ("get_ylim", "set_ylim")):
        limits = np.array([getattr(one, get)() for one in axes])
        for one in axes:
            getattr(one, put)(limits[:, 0].min(), limits[:, 1].max())
