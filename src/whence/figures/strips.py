"""Many numbers as strips of colour, one row below the other, where a heatmap has no room for numbers."""

import numpy as np
import pandas as pd
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from whence.core.errors import BadData
from whence.figures.style import PALETTE, QUIET, canvas, house
from whence.figures.token_shading import visible

BOTH = LinearSegmentedColormap.from_list("both", [PALETTE[1], "#ffffff", PALETTE[0]])
MOST = 60  # rows
TOP = 0.995  # of the sizes: the few larger ones have the darkest colour too


def strips(cells: pd.DataFrame, x_label: str = "", unit: str = "") -> Figure:
    """A row for each row of `cells`, a narrow strip for each column; blue is above zero, vermilion below.

    Colours saturate near the largest absolute value, as the scale shows.
    """
    if not 1 <= len(cells) <= MOST or not len(cells.columns):
        raise BadData(f"strips have 1 to {MOST} rows and some columns; got {len(cells)} and {len(cells.columns)}")
    values = cells.to_numpy(float)
    sizes = np.abs(values[np.isfinite(values)])
    top = float(np.quantile(sizes, TOP)) if sizes.size else 0.0
    top = top or float(sizes.max(initial=0.0)) or 1.0
    with house():
        figure, axes = canvas(height=0.24 * len(cells) + 1.2)
        image = axes.imshow(
            values,
            cmap=BOTH,
            vmin=-top,
            vmax=top,
            aspect="auto",
            interpolation="nearest",
            extent=(0.5, values.shape[1] + 0.5, len(cells) - 0.5, -0.5),
        )
        axes.set_yticks(range(len(cells)), [visible(str(name)) for name in cells.index], fontsize=8.5)
        axes.set_xlabel("\n".join(visible(line) for line in (x_label, unit and f"colour: {unit}") if line), fontsize=9)
        axes.tick_params(axis="y", length=0)
        axes.spines[:].set_color(QUIET)
        scale = figure.colorbar(image, ax=axes, fraction=0.05, pad=0.02)
        scale.ax.tick_params(labelsize=8)
        scale.outline.set_linewidth(0.6)
    return figure
