"""A table of numbers shaded by their size, with a column to compare them with (000 Fig. 6)."""

from collections.abc import Collection

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from whence.core.errors import BadData
from whence.figures.shades import visible
from whence.figures.style import INK, PALETTE, QUIET, canvas, house

SHADES = LinearSegmentedColormap.from_list("house", ["#ffffff", "#9ccbe6", PALETTE[0]])
MOST = 24  # columns


def heatmap(
    cells: pd.DataFrame,
    apart: Collection[str] = (),
    marked: pd.DataFrame | None = None,
    x_label: str = "",
    note: str = "",
) -> Figure:
    """One square for each row and column of `cells`, its number in it; columns `apart` stand by themselves at the left.

    Where `marked` (a table of the same form, of truth values) is true the number is bold; `note` says what that means.
    """
    if not 1 <= len(cells.columns) <= MOST:
        raise BadData(f"a heatmap has one to {MOST} columns; there are {len(cells.columns)}")
    left = [name for name in cells.columns if name in apart]
    ordered = cells[[*left, *(name for name in cells.columns if name not in apart)]]
    with house():
        figure, axes = canvas(height=0.75 + 0.42 * len(ordered) + 0.2 * bool(note))
        draw(axes, ordered, len(left), marked, x_label, note)
    return figure


def draw(
    axes: Axes, cells: pd.DataFrame, n_left: int, marked: pd.DataFrame | None, x_label: str = "", note: str = ""
) -> None:
    """The same on axes that are there; the first `n_left` columns stand apart."""
    values = cells.to_numpy(float)
    finite = values[np.isfinite(values)]
    top = float(finite.max()) if finite.size and finite.max() > 0 else 1.0
    where = np.arange(values.shape[1]) + 0.35 * (np.arange(values.shape[1]) >= n_left) * bool(n_left)
    small = 8.5 if values.shape[1] <= 10 else 6.5
    for row, column in np.ndindex(*values.shape):
        value, at = values[row, column], (where[column] - 0.5, row - 0.5)
        shade = SHADES(value / top) if np.isfinite(value) else "white"
        axes.add_patch(_square(at, shade))
        strong = marked is not None and cells.columns[column] in marked.columns and bool(
            marked.loc[cells.index[row], cells.columns[column]]
        )  # fmt: skip
        axes.text(where[column], row, _written(value), ha="center", va="center", fontsize=small,
                  weight="bold" if strong else "normal", color="white" if value > 0.75 * top else INK)  # fmt: skip
    _dress(axes, cells, where, visible(x_label), note)


def _square(at: tuple[float, float], colour: object) -> Rectangle:
    return Rectangle(at, 1, 1, facecolor=colour, edgecolor="white", linewidth=1.2)  # type: ignore[arg-type]


def _written(value: float) -> str:
    """Two digits after the point, as in the paper."""
    return f"{value:.2f}".replace("0.", ".", 1) if np.isfinite(value) else "–"


def _dress(axes: Axes, cells: pd.DataFrame, where: np.ndarray, x_label: str, note: str) -> None:
    """Names at the left and above."""
    axes.set(xlim=(where[0] - 0.5, where[-1] + 0.5), ylim=(len(cells) - 0.5, -0.5))
    axes.set_xticks(where, [visible(str(name)) for name in cells.columns], fontsize=8.5 if len(where) <= 10 else 7)
    axes.set_yticks(range(len(cells)), [visible(str(name)) for name in cells.index])
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel(x_label)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    if note:
        axes.annotate(note, (0, 0), xycoords="axes fraction", xytext=(0, -4), textcoords="offset points", va="top",
                      fontsize=8.5, color=QUIET)  # fmt: skip
