"""A table of numbers shaded by their size, with a column to compare them with (Wu et al. 2020 Fig. 6)."""

import re
from collections.abc import Collection

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from whence.core.errors import BadData
from whence.figures.style import INK, PALETTE, QUIET, canvas, house
from whence.figures.token_shading import visible

SHADES = LinearSegmentedColormap.from_list("house", ["#ffffff", "#9ccbe6", PALETTE[0]])
MOST, MANY = 24, 12  # columns; beyond the second, letters are smaller
GAP = 0.35  # of a square, between the columns apart and the others


def heatmap(
    cells: pd.DataFrame,
    apart: Collection[str] = (),
    marked: pd.DataFrame | None = None,
    x_label: str = "",
    note: str = "",
) -> Figure:
    """One square for each row and column of `cells`, with its number; columns `apart` are set apart at the left.

    Where `marked` (a table of truth values of the same shape) is true the number is bold; `note` says what that means.
    """
    if not 1 <= len(cells.columns) <= MOST:
        raise BadData(f"a heatmap has one to {MOST} columns; got {len(cells.columns)}")
    left = [name for name in cells.columns if name in apart]
    ordered = cells[[*left, *(name for name in cells.columns if name not in apart)]]
    with house():
        figure, axes = canvas(height=0.75 + 0.42 * len(ordered) + 0.2 * bool(note))
        draw(axes, ordered, len(left), marked, x_label, note)
    return figure


def draw(
    axes: Axes, cells: pd.DataFrame, n_left: int, marked: pd.DataFrame | None, x_label: str = "", note: str = ""
) -> None:
    """The same on existing axes; the first `n_left` columns are set apart."""
    values = cells.to_numpy(float)
    top = max((value for value in values.flatten().tolist() if value > 0), default=1.0)
    where = [float(number + GAP * (0 < n_left <= number)) for number in range(values.shape[1])]
    bold = {} if marked is None else {name: marked[name].to_numpy(bool).tolist() for name in marked.columns}
    for name, at, column in zip(cells.columns, where, values.T.tolist(), strict=True):
        for row, value in enumerate(column):
            _cell(axes, (at, float(row)), value, value / top, bold.get(name, [False] * (row + 1))[row], len(where))
    _dress(axes, cells, where, visible(x_label), note)


def _cell(axes: Axes, at: tuple[float, float], value: float, shade: float, bold: bool, columns: int) -> None:
    """One square and its number."""
    colour = SHADES(shade) if np.isfinite(value) else "white"
    axes.add_patch(Rectangle((at[0] - 0.5, at[1] - 0.5), 1, 1, facecolor=colour, edgecolor="white", linewidth=1.2))
    axes.text(
        *at,
        _written(value),
        ha="center",
        va="center",
        fontsize=_size(columns),
        weight="bold" if bold else "normal",
        color="white" if shade > 0.75 else INK,
    )


def _size(columns: int) -> float:
    """The font size of the numbers, so that -.12 fits into its square."""
    return 8.5 if columns <= 10 else 6.5 if columns <= MANY else 5.8


def _written(value: float) -> str:
    """Two digits after the point and no leading zero, as in the paper; never -.00."""
    return re.sub(r"^(-?)0\.", r"\1.", f"{round(value, 2) + 0.0:.2f}") if np.isfinite(value) else "–"


def _dress(axes: Axes, cells: pd.DataFrame, where: list[float], x_label: str, note: str) -> None:
    """Names at the left and above."""
    axes.set(xlim=(where[0] - 0.5, where[-1] + 0.5), ylim=(len(cells) - 0.5, -0.5))
    axes.set_xticks(where, [visible(str(name)) for name in cells.columns], fontsize=8.5 if len(where) <= 10 else 7)
    axes.set_yticks(range(len(cells)), [visible(str(name)) for name in cells.index])
    if len(where) > MANY:
        axes.tick_params(axis="y", labelsize=8.5)  # names leave room for the squares
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel(x_label)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    if note:
        axes.annotate(
            note,
            (0, 0),
            xycoords="axes fraction",
            xytext=(0, -4),
            textcoords="offset points",
            va="top",
            fontsize=8.5,
            color=QUIET,
        )
