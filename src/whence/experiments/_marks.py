"""How well examples were answered: right answers, or of texts that were written freely the counts of BLEU."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from whence.measures.bleu import bleu
from whence.measures.bootstrap import Measure
from whence.results.verdict import Effect


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


def undecidable(effect: Effect, labels: "pd.Series[str]", points: float) -> str:
    """A sentence, if nothing can be decided: there are few examples, or there is hardly anything to lose.

    That is so where a model that got so many `points` is hardly better than always naming the most frequent label, or,
    where its answers are no labels of texts, gets hardly anything right.
    """
    shares = labels.value_counts(normalize=True)
    named = len(shares) > 0 and "" not in shares.index
    if points - (100 * float(shares.max()) if named else 0.0) >= effect.smallest:
        return effect.too_few
    does = "does hardly better than always naming the most frequent answer" if named else "gets hardly anything right"
    return effect.too_few or f"The model {does}, so there is nothing that attention could matter for."


def loses(effect: Effect) -> str:
    """An effect in words: what a model loses with its interval, or gains where the loss is below zero."""
    gained = round(effect.value, 1) < 0
    value, low, high = (-effect.value, -effect.high, -effect.low) if gained else (effect.value, effect.low, effect.high)
    numbers = [f"{round(part, 1) + 0.0:.1f}".replace("-", "−") for part in (value, low, high)]
    points = effect.unit.removesuffix(" lost")
    return f"{'gains' if gained else 'loses'} {numbers[0]} {points} ({numbers[1]} to {numbers[2]})"


def per_cent(counts: Float[ndarray, "*corpora count"]) -> Float[ndarray, "*corpora"]:
    """Accuracy from what was right and how many there were."""
    return np.asarray(100 * counts[..., 0] / counts[..., 1])
