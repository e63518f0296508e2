"""One number by another for the items of several groups, distinguished by colour and marker."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from whence.core.errors import BadData
from whence.figures.curves import COLOURS, MARKERS
from whence.figures.style import canvas, house
from whence.figures.token_shading import visible
from whence.figures.violins import refuse_missing

WIDE = 20.0  # from the least to the largest: wider than that is drawn on a logarithmic scale


def grouped_scatter(
    table: pd.DataFrame, x: str, y: str, group: str, groups: Sequence[str], x_label: str = "", y_label: str = ""
) -> Figure:
    """A point of `y` by `x` for each row, in the colours that `curves` gives to lines in the order of `groups`.

    Rows without a number are left out, and so are groups without rows.
    """
    refuse_missing(table, [x, y, group])
    if not 1 <= len(groups) <= len(COLOURS):
        raise BadData(f"a figure has one to {len(COLOURS)} groups; got {len(groups)}")
    known = table[np.isfinite(table[x]) & np.isfinite(table[y])]
    with house():
        figure, axes = canvas(height=3.3)
        for number, name in enumerate(groups):
            rows = known[known[group] == name]
            if len(rows):
                axes.plot(
                    rows[x].to_numpy(float),
                    rows[y].to_numpy(float),
                    MARKERS[number],
                    color=COLOURS[number],
                    markersize=5,
                    alpha=0.75,
                    markeredgecolor="white",
                    markeredgewidth=0.4,
                    label=visible(name),
                )
        least, largest = known[x].min(), known[x].max()
        if least > 0 and largest / least > WIDE:
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))  # not as mathematics
            axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set(xlabel=visible(x_label or x), ylabel=visible(y_label or y))
        axes.margins(0.06)
        if len(known):
            axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=2, fontsize=9)
    return figure
