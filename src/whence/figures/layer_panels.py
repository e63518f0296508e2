"""Lines over layers with their bands, small panels side by side, each with its own dotted and dashed level."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from whence.core.errors import BadData
from whence.figures.curves import COLOURS, band_line
from whence.figures.style import INK, QUIET, WIDTH, house
from whence.figures.token_shading import visible
from whence.figures.violins import refuse_missing

ACROSS = 2  # panels side by side, to be read on a phone
HEIGHT = 1.5  # inches of a panel
SMALL = 0.875  # of the usual width of lines and dots


def layer_panels(
    table: pd.DataFrame,
    panel: str,
    line: str,
    dotted: Mapping[str, float],
    dashed: Mapping[str, float],
    y_label: str,
    levels: tuple[str, str] = ("_dotted", "_dashed"),
) -> Figure:
    """A line of `value` by `layer`, with a band from `low` to `high`, for each value of `line`, a panel for each of
    `panel`; `dotted` and `dashed` are the heights of a panel's level lines, `levels` their names. Every panel has its
    own scale.
    """
    refuse_missing(table, [panel, line, "layer", "value", "low", "high"])
    names, groups = [str(name) for name in table[line].unique()], list(table.groupby(panel, sort=False))
    if not 1 <= len(names) <= len(COLOURS):
        raise BadData(f"a figure has one to {len(COLOURS)} lines; got {len(names)}")
    across = min(ACROSS, len(groups))
    down = -(-len(groups) // across)
    with house():
        figure = Figure(figsize=(WIDTH, 0.7 + HEIGHT * down), layout="constrained")
        FigureCanvasAgg(figure)
        axes = list(figure.subplots(down, across, squeeze=False).flat)
        for place, (name, rows) in zip(axes, groups, strict=False):
            for number, one in enumerate(names):
                of_line = rows[rows[line] == one].sort_values("layer")
                band_line(place, of_line, ("layer", "value", "low", "high"), number, visible(one), SMALL)
            _levels(place, dotted.get(str(name)), dashed.get(str(name)), levels)
            place.set_title(visible(str(name).replace("_", " ")), loc="left", fontsize=9)
        for place in axes[len(groups) :]:
            place.remove()
        figure.supxlabel("layer", fontsize=10)
        figure.supylabel(visible(y_label), fontsize=10)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=2, fontsize=9)
    return figure


def _levels(axes: Axes, dotted: float | None, dashed: float | None, names: tuple[str, str]) -> None:
    """The level lines, and whole numbers for layers."""
    for height, style, colour, name in ((dotted, ":", QUIET, names[0]), (dashed, "--", INK, names[1])):
        if height is not None and np.isfinite(height):
            axes.axhline(height, color=colour, linewidth=1.0, linestyle=style, label=name)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=7))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=4))
    axes.tick_params(labelsize=8)
