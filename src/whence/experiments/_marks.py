"""How well examples were answered: right answers, or of texts that were written freely the counts of BLEU."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from whence.measures.bleu import bleu

Measure = Callable[[Float[ndarray, "*corpora count"]], Float[ndarray, "*corpora"]]


@dataclass(frozen=True, eq=False)
class Marks:
    """How well each example was answered, from 0 to 1; of translations also the counts that BLEU is summed from."""

    scores: Float[ndarray, " example"]
    counts: Float[ndarray, "example count"] | None = None

    def written(self) -> list[str | None]:
        """The counts as a table holds them: ten numbers in a text."""
        if self.counts is None:
            return [None] * len(self.scores)
        return [" ".join(f"{count:g}" for count in row) for row in self.counts]


def measured(counts: "pd.Series[str]") -> str:
    """What the marks of a table are: accuracy, or BLEU where there are counts of it."""
    return "accuracy" if counts.isna().all() else "BLEU"


def summed(scores: "pd.Series[float]", counts: "pd.Series[str]") -> tuple[Measure, Float[ndarray, "row count"]]:
    """The measure of a corpus in points, and for each row of a table what it is summed from."""
    if measured(counts) == "BLEU":
        return bleu, np.array([text.split() for text in counts], float)
    return per_cent, np.stack([scores.to_numpy(float), np.ones(len(scores))], -1)


def per_cent(counts: Float[ndarray, "*corpora count"]) -> Float[ndarray, "*corpora"]:
    """Accuracy from what was right and how many there were."""
    return np.asarray(100 * counts[..., 0] / counts[..., 1])
