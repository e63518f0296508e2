"""One number of each example by another: points, and for bins their median and quantiles (Vashishth et al. 2019 Fig.
3).
"""

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whence.figures.style import INK, PALETTE, QUIET, canvas, house, note_above
from whence.figures.token_shading import visible
from whence.figures.violins import FEW, refuse_missing

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
SHOWN = 2000  # points; the bands are computed from all
Values = npt.NDArray[np.float64]


def scatter(table: pd.DataFrame, x: str, y: str, x_label: str = "", y_label: str = "", bins: int = 8) -> Figure:
    """Points of `y` by `x`, and bands of their quantiles in equal bins of `x`.

    The line is the median of a bin, the dark band holds the middle half, the light one the middle nine tenths; a bin of
    fewer than eight points has none. Rows without a number are left out.
    """
    with house():
        figure, axes = canvas(height=3.1)
        draw(axes, table, x, y, x_label, y_label, bins)
    return figure


def draw(axes: Axes, table: pd.DataFrame, x: str, y: str, x_label: str = "", y_label: str = "", bins: int = 8) -> None:
    """The same on existing axes."""
    refuse_missing(table, [x, y])
    known = table[np.isfinite(table[x]) & np.isfinite(table[y])]
    across, up = known[x].to_numpy(dtype=float), known[y].to_numpy(dtype=float)
    shown = np.unique(np.linspace(0, len(known) - 1, min(SHOWN, len(known))).round().astype(int))
    axes.plot(across[shown], up[shown], "o", color=PALETTE[0], markersize=2.4, alpha=0.3, markeredgewidth=0, zorder=3)
    axes.axhline(0, color=QUIET, linewidth=0.6)
    for left, right, quantiles in bands(across, up, bins):
        for low, high, alpha in ((0, 4, 0.13), (1, 3, 0.22)):
            axes.fill_between(
                [left, right], quantiles[low], quantiles[high], color=PALETTE[0], alpha=alpha, linewidth=0
            )
        axes.plot([left, right], [quantiles[2]] * 2, color=INK, linewidth=1.6, solid_capstyle="butt", zorder=4)
    axes.set(xlabel=visible(x_label or x), ylabel=visible(y_label or y))
    note_above(axes, _note(len(table), len(known), len(shown)))


def bands(x: Values, y: Values, bins: int) -> list[tuple[float, float, Values]]:
    """For each bin of `x` with enough points its edges, and the quantiles of `y` in it; the last bin is closed."""
    if not x.size:
        return []
    edges = np.linspace(min(0.0, x.min()), x.max(), bins + 1)
    place = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, bins - 1)
    return [
        (float(edges[number]), float(edges[number + 1]), np.quantile(y[place == number], QUANTILES))
        for number in range(bins)
        if np.count_nonzero(place == number) >= FEW
    ]


def _note(rows: int, known: int, shown: int) -> str:
    """What line and bands are, and how many points are left out."""
    less = f" · {shown:,} of {known:,} points shown" if shown < known else ""
    left_out = f" · {rows - known} left out" if known < rows else ""
    return f"line: median · bands: middle half, middle 90 %{less}{left_out}"
