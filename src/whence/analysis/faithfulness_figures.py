"""The figures of `faithfulness`."""

import pandas as pd
from matplotlib.figure import Figure

from whence.analysis.faithfulness import effects, first_method, kinds, ranked
from whence.figures import distributions, ranking, scatter
from whence.figures.intervals import intervals
from whence.figures.style import apart, house


def figure(table: pd.DataFrame) -> Figure:
    """The ranking of the explainers, above ΔJS by the difference of scores (Vashishth et al. 2019 Fig. 3).

    ΔJS is that of the last kind of removal: attention taken away, if that was done.
    """
    order, kind = ranked(table), kinds(table)[-1]
    judged = table[(table["method"] == first_method(table)) & (table["erase"] == kind)]
    with house():
        drawn, (above, below) = apart((ranking.EACH * len(order) + 0.75, 3.1))
        ranking.draw(above, order, "method", "faithfulness", "low", "high", "from the worst order (0) to the best (1)")
        scatter.draw(
            below,
            judged,
            "delta_score",
            "delta_js",
            "difference of scores (top − other)",
            "difference of effect (nats)",
        )
    return drawn


def figures(table: pd.DataFrame) -> dict[str, Figure]:
    """By kind of removal, and the share of words to remove until the decision changes (Serrano & Smith 2019 Fig. 6)."""
    first = table[table["erase"] == kinds(table)[0]]
    shares = {str(method): rows["flip"] for method, rows in first.groupby("method", sort=False)}
    words = "share of the words removed when the decision changes"
    return {"kinds": intervals(effects(table)), "flips": distributions.distributions(shares, words, missing="never")}
