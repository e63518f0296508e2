"""How much predictions move, by how peaked attention is: violins, as in Jain & Wallace 2019, Figure 7."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from whence.core.errors import BadData
from whence.figures.style import INK, PALETTE, QUIET, canvas, house
from whence.figures.token_shading import visible

FEW = 8  # with fewer points than this, the points themselves are shown
Values = npt.NDArray[np.float64]


def violins(
    table: pd.DataFrame,
    x: str,
    y: str,
    colour: str | None = None,
    bins: int = 4,
    x_label: str = "largest attention weight",
    y_label: str = "median change of the prediction (total variation)",
    upto: float = 1.0,
) -> Figure:
    """Violins of `y` (0 to `upto`) for equal bins of `x` (0 to 1), one for each value of `colour`.

    Violins at the left: little change. The dot is the median, the bar goes from the lower to the upper quartile; a bin
    of fewer than eight points shows the points. If there are more labels than colours, they are pooled. Rows without a
    number are left out.
    """
    refuse_missing(table, [x, y, *([colour] if colour else [])])
    known = table[np.isfinite(table[x]) & np.isfinite(table[y])]
    place = binned(known[x].to_numpy(dtype=float), bins)
    groups = _groups(known, colour)
    with house():
        figure, axes = canvas(height=0.9 + bins * max(0.5, 0.26 * len(groups)))
        for number, members in enumerate(groups.values()):
            for row in range(bins):
                values = known[y].to_numpy(dtype=float)[members & (place == row)]
                one_violin(axes, values, _at(row, number, len(groups)), 0.8 / len(groups), PALETTE[number])
        if len(groups) > 1:
            _legend(axes, list(groups))
        _dress(axes, bins, len(table) - len(known), visible(x_label), visible(y_label), upto)
    return figure


def binned(values: Values, bins: int) -> npt.NDArray[np.int64]:
    """The number of each value's bin: [0, 1/bins), ..., the last one closed: [1 − 1/bins, 1]."""
    if values.size and (values.min() < -1e-4 or values.max() > 1 + 1e-4):  # tolerance for half precision
        raise BadData(f"bins run from 0 to 1; there are values from {values.min():.4g} to {values.max():.4g}")
    edges = np.linspace(0, 1, bins + 1)
    return np.clip(np.searchsorted(edges, values, side="right") - 1, 0, bins - 1).astype(np.int64)


def quartiles(values: Values) -> tuple[float, float, float]:
    """Lower quartile, median, upper quartile, interpolated linearly."""
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return float(low), float(middle), float(high)


def refuse_missing(table: pd.DataFrame, names: Sequence[str]) -> None:
    """Refuse a table that lacks a column of the figure."""
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise BadData(f"the table has no column {', '.join(missing)}; it has: {', '.join(map(str, table.columns))}")


def _groups(table: pd.DataFrame, colour: str | None) -> dict[str, npt.NDArray[np.bool_]]:
    """The rows of each label; all together if there are no labels, or more labels than colours."""
    labels = sorted(table[colour].dropna().unique(), key=lambda label: (str(type(label)), label)) if colour else []
    if not 1 <= len(labels) <= len(PALETTE):
        return {"all": np.ones(len(table), dtype=bool)}
    return {str(label): (table[colour] == label).fillna(False).to_numpy(dtype=bool) for label in labels}


def _at(row: int, number: int, groups: int) -> float:
    """The height of a violin: its bin's row, the first label on top."""
    return row + 0.4 - 0.8 * (number + 0.5) / groups


def one_violin(axes: Axes, values: Values, at: float, height: float, colour: str) -> None:
    """One violin, or dots where there are few points, with the number of points at the right."""
    if values.size >= FEW and np.ptp(values) > 1e-6:
        body = axes.violinplot(
            [values], positions=[at], widths=height, orientation="horizontal", showextrema=False, points=60
        )
        for shape in body["bodies"]:  # type: ignore[attr-defined]
            shape.set(facecolor=colour, alpha=0.45, edgecolor=colour, linewidth=0.8)
    elif values.size:
        axes.plot(values, np.full(values.size, at), "o", color=colour, markersize=3, alpha=0.6, markeredgewidth=0)
    if values.size >= FEW:
        low, middle, high = quartiles(values)
        axes.plot([low, high], [at, at], color=INK, linewidth=1.6, solid_capstyle="butt")
        axes.plot([middle], [at], "o", color="white", markersize=4, markeredgecolor=INK, markeredgewidth=0.9)
    note = f"n = {values.size}" if values.size else "none"
    axes.text(1.02, at, note, transform=axes.get_yaxis_transform(), va="center", fontsize=8.5, color=QUIET)


def _legend(axes: Axes, names: Sequence[str]) -> None:
    """The labels and their colours above the axes, in as many columns as fit."""
    shown = [_short(visible(name)) or "(empty)" for name in names]
    marks = [Patch(color=PALETTE[number], alpha=0.6) for number in range(len(names))]
    columns = max(1, min(3, 52 // (max(map(len, shown)) + 6)))
    axes.legend(marks, shown, loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=columns, fontsize=9, handlelength=1)


def _short(name: str) -> str:
    """A long name with its middle left out: class names often differ at the end."""
    return name if len(name) <= 40 else f"{name[:22]}…{name[-17:]}"


def _dress(axes: Axes, bins: int, left_out: int, x_label: str, y_label: str, upto: float) -> None:
    """Limits, ticks and labels."""
    edges = [f"{edge:g}".replace("0.", ".") for edge in np.linspace(0, 1, bins + 1).round(3)]
    names = [f"{low} – {high}" for low, high in pairwise(edges)]
    axes.set(xlim=(-0.01 * upto, 1.01 * upto), ylim=(-0.55, bins - 0.45), xlabel=y_label, ylabel=x_label)
    axes.set_yticks(range(bins), names)
    axes.tick_params(axis="y", length=0)
    axes.hlines(np.arange(bins - 1) + 0.5, 0, upto, color=QUIET, linewidth=0.3, linestyle=":")
    if left_out:
        rows = "1 row" if left_out == 1 else f"{left_out} rows"
        axes.annotate(
            f"{rows} without a number left out", (1, 1), xycoords="axes fraction", ha="right", fontsize=8.5, color=QUIET
        )
