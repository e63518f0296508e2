"""When nothing can be decided: too few examples, or a model whose predictions have nothing to do with the labels.

Attention can explain a prediction only if there is something to explain. A model that is untrained, that always
predicts one class, or that learned from random labels agrees with the labels no better than chance; whatever its
attention does, its verdicts are *undecided*. The test: the mean of `correct − chance` (the numerator of Cohen's kappa),
whose interval must lie above zero.
"""

import numpy as np
import pandas as pd

from whence.measures.intervals.crossed import t_quantile
from whence.measures.intervals.interval import Interval
from whence.results.columns import Column
from whence.results.verdict import FEWEST

LEVEL = 0.99  # of the interval: one untrained model in two hundred may pass
CORRECT = Column(float, "share of the text's predictions that are right (NaN: no labels)")
CHANCE = Column(float, "the same if labels were shuffled among the predictions")


def why_gated(table: pd.DataFrame) -> str:
    """Why no verdict can be reached from this table, else empty: it has columns `example`, `correct` and `chance`.

    Without labels only the number of examples is tested.
    """
    each = table.drop_duplicates("example")
    return too_few(len(each)) or why_at_chance(each["correct"], each["chance"])


def too_few(n: int, fewest: int = FEWEST, what: str = "example") -> str:
    """A sentence, if there are too few examples to decide anything."""
    first, space, rest = what.partition(" ")
    there = f"There is 1 {what}" if n == 1 else f"There are {n} {first}s{space}{rest}"
    return f"{there}, too few to decide anything; a verdict needs {fewest}." if n < fewest else ""


def why_at_chance(correct: "pd.Series[float]", chance: "pd.Series[float]") -> str:
    """A sentence, if the model's predictions are not clearly better than chance."""
    known = correct.notna() & chance.notna()
    if not known.any():
        return ""
    right, expected = correct[known].to_numpy(float), chance[known].to_numpy(float)
    if above_chance(right - expected).low > 0:
        return ""
    return (
        f"The model's predictions are not clearly better than chance ({100 * right.mean():.0f} % are right,"
        f" {100 * expected.mean():.0f} % would be if labels were shuffled; {len(right)} texts), so there is nothing"
        " that attention could explain."
    )


def above_chance(differences: np.ndarray) -> Interval:
    """How far the share of right predictions is above chance, with its t interval over the examples.

    Without the correction for skewness of other means: the few wrong predictions of a good model would make it so wide
    that twenty examples never sufficed, and tests show that models at chance do not pass more often than they should.
    """
    mean, n = float(differences.mean()), len(differences)
    half = t_quantile(n - 1, LEVEL) * float(differences.std(ddof=1)) / n**0.5
    return Interval(mean, mean - half, mean + half, LEVEL)
