"""Points with the parabola fitted to them, a panel for each group (Wu et al. 2020 Fig. 5: scores by valence)."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.polynomial import Polynomial

from whence.figures.style import INK, PALETTE, QUIET, house, panels
from whence.figures.token_shading import visible
from whence.figures.violins import refuse_missing
from whence.measures.regression import FEWEST, quadratic

SHOWN = 700  # points of a panel, evenly taken; curves are fitted to all
CUT = 0.99  # the highest hundredth of the points is not shown, so that the rest can be seen (the paper: above 0.4)
NORMAL = 1.96
GRID = 200  # places where a curve is drawn


def fit_panels(
    table: pd.DataFrame, x: str, y: str, panel: str, compared: str | None = None, x_label: str = "", y_label: str = ""
) -> Figure:
    """Points of `y` by `x` and their parabola with its 95 % band, in a panel for each value of `panel`.

    Rows of the first value of `compared` are the points; those of the other values are dashed parabolas.
    """
    refuse_missing(table, [column for column in (x, y, panel, compared) if column])
    known = table[np.isfinite(table[x]) & np.isfinite(table[y])]
    names = list(known[panel].unique())
    with house():
        figure, axes = panels([2.35] * max(len(names), 1))
        for number, (place, name) in enumerate(zip(axes, names, strict=False)):
            rows = known[known[panel] == name]
            groups = {str(key): one for key, one in rows.groupby(compared, sort=False)} if compared else {"": rows}
            draw(place, groups, x, y, PALETTE[number % len(PALETTE)])
            place.set_title(visible(str(name)), loc="left", fontsize=10)
            place.set_ylabel(visible(y_label or y))
        axes[-1].set_xlabel(visible(x_label or x))
    return figure


def draw(axes: Axes, groups: dict[str, pd.DataFrame], x: str, y: str, colour: str) -> None:
    """One panel: the first group's points and parabola, the others' parabolas."""
    first = next(iter(groups.values()))
    across, up = first[x].to_numpy(float), first[y].to_numpy(float)
    top = float(np.quantile(up, CUT)) if len(up) else 1.0
    inside = np.flatnonzero(up <= top)
    shown = inside[np.unique(np.linspace(0, len(inside) - 1, min(SHOWN, len(inside))).round().astype(int))]
    axes.plot(across[shown], up[shown], "o", color=colour, markersize=2.4, alpha=0.3, markeredgewidth=0)
    for number, (name, rows) in enumerate(groups.items()):
        _curve(
            axes,
            rows[x].to_numpy(float),
            rows[y].to_numpy(float),
            INK if number == 0 else QUIET,
            "--" if number else "-",
            visible(name),
        )
    if len(groups) > 1 and axes.get_legend_handles_labels()[0]:
        axes.legend(loc="lower right", bbox_to_anchor=(1.02, 1.0), ncols=2, fontsize=8.5)
    cut = f" · {len(up) - len(inside)} above not shown" if len(inside) < len(up) else ""
    axes.margins(y=0.12)
    axes.annotate(
        f"{len(up):,} words{cut}",
        (1, 0.99),
        xycoords="axes fraction",
        ha="right",
        va="top",
        fontsize=8.5,
        color=QUIET,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
    )


def _curve(axes: Axes, x: np.ndarray, y: np.ndarray, colour: str, style: str, name: str) -> None:
    """The parabola with its band; none where there are too few points for one."""
    if len(x) < FEWEST or len(np.unique(x)) < 3:
        return
    fit, kinds = quadratic(y, x), len(np.unique(x))
    grid = np.linspace(x.min(), x.max(), GRID)
    curve = Polynomial.fit(x, fit.curve, 2)(grid)
    variance = Polynomial.fit(x, fit.curve_se**2, min(4, kinds - 1))(grid)  # of a parabola: a quartic
    half = NORMAL * np.sqrt(np.clip(variance, 0, None))
    axes.plot(grid, curve, style, color=colour, linewidth=1.6, label=name)
    axes.fill_between(grid, curve - half, curve + half, color=colour, alpha=0.18, linewidth=0)
