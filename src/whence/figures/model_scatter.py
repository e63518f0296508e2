"""Models compared with a base: how far their attention and their predictions are from its own (W&P 2019 Fig. 5)."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whence.figures.style import INK, PALETTE, QUIET, house, panels
from whence.figures.violins import refuse_missing

# fmt: off
LOOKS = {"adversary": ("o", PALETTE[0], "adversaries"), "seed": ("^", PALETTE[1], "other seeds"),
         "uniform": ("s", PALETTE[2], "uniform attention"), "base": ("*", INK, "the model itself")}
# fmt: on


def model_scatter(models: pd.DataFrame, means: pd.DataFrame, pairs: dict[str, str], labels: dict[str, str]) -> Figure:
    """For each pair of columns, x and y, a panel with a dot for every model; a line joins the means by `λ`.

    `models` has a row per model, with a column `who` (adversary, seed, uniform or base); `means` a row per `λ`, with
    the ends of the intervals in columns named `x low` and `x high`.
    """
    refuse_missing(models, ["who", *pairs, *pairs.values()])
    refuse_missing(means, ["λ", *pairs, *pairs.values()])
    with house():
        figure, axes = panels([2.7] * len(pairs))
        for place, (x, y) in zip(axes, pairs.items(), strict=True):
            _joined(place, means, x, y)
            for who, (marker, colour, name) in LOOKS.items():
                rows = models[models["who"] == who]
                if len(rows):
                    place.plot(
                        rows[x],
                        rows[y],
                        marker,
                        color=colour,
                        markersize=9 if who == "base" else 6,
                        markeredgecolor="white",
                        markeredgewidth=0.6,
                        label=name,
                    )
            place.set(xlabel=labels.get(x, x), ylabel=labels.get(y, y))
            place.margins(0.08)
        axes[0].legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=2, fontsize=9)
    return figure


def _joined(axes: Axes, means: pd.DataFrame, x: str, y: str) -> None:
    """The means of each λ with their intervals, joined in the order of λ; the first and the last are named."""
    means = means.sort_values("λ").reset_index(drop=True)
    bars = [[means[name] - means[f"{name} low"], means[f"{name} high"] - means[name]] for name in (x, y)]
    axes.errorbar(
        means[x],
        means[y],
        xerr=np.clip(bars[0], 0, None),
        yerr=np.clip(bars[1], 0, None),
        color=PALETTE[0],
        linewidth=1.2,
        linestyle=":",
        elinewidth=0.8,
        alpha=0.6,
    )
    for number in sorted({0, len(means) - 1} if len(means) else ()):
        row = means.iloc[number]
        axes.annotate(
            f"λ = {row['λ']:g}",
            (row[x], row[y]),
            xytext=(6, -13),
            textcoords="offset points",
            fontsize=8.5,
            color=QUIET,
        )
