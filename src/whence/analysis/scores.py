"""How well examples were answered: right answers, or counts that F1 (of chunks) or BLEU (of texts) is summed from."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from whence.measures import bleu
from whence.measures import chunk_f1 as chunks
from whence.measures.bootstrap import Measure
from whence.results.verdict import Effect


class CorpusMetric(NamedTuple):
    """What is computed from counts that were summed over a corpus, in points."""

    name: str
    measure: Measure


SCORE_MEANING = "share of right answers; of chunks their F1 / 100, of a text written freely its BLEU / 100"
COUNTS_MEANING = (
    "what F1 is summed from: chunks that are right, that were said, that are true; or BLEU: runs of 1 to 4 words that"
    " match, that there are, two lengths"
)
METRICS_BY_COUNTS = {
    bleu.COUNTS: CorpusMetric("BLEU", bleu.bleu),
    chunks.COUNTS: CorpusMetric("F1", chunks.chunk_f1),
}  # by their number


@dataclass(frozen=True, eq=False)
class Scores:
    """How well each example was answered, from 0 to 1; of translations and chunks also what BLEU and F1 are summed
    from.
    """

    values: Float[ndarray, " example"]
    counts: Float[ndarray, "example count"] | None = None

    def counts_as_text(self) -> list[str | None]:
        """The counts as a table holds them: the numbers in a text."""
        if self.counts is None:
            return [None] * len(self.values)
        return [" ".join(f"{count:g}" for count in row) for row in self.counts]


def metric_name(counts: "pd.Series[str]") -> str:
    """What the marks of a table are: accuracy, or BLEU or F1 where there are counts of it."""
    return _metric(counts).name


def metric_and_counts(
    scores: "pd.Series[float]", counts: "pd.Series[str]"
) -> tuple[Measure, Float[ndarray, "row count"]]:
    """The measure of a corpus in points, and for each row of a table what it is summed from."""
    measure = _metric(counts).measure
    if measure is per_cent:
        return measure, np.stack([scores.to_numpy(float), np.ones(len(scores))], -1)
    return measure, np.array([text.split() for text in counts], float)


def _metric(counts: "pd.Series[str]") -> CorpusMetric:
    """Known by how many counts there are; where there are none, right answers are counted."""
    there = counts.dropna()
    return CorpusMetric("accuracy", per_cent) if there.empty else METRICS_BY_COUNTS[len(there.iloc[0].split())]


def why_undecidable(effect: Effect, labels: "pd.Series[str]", points: float) -> str:
    """A sentence, if nothing can be decided: there are few examples, or there is hardly anything to lose.

    That is so where a model with so many `points` is hardly better than always predicting the most frequent label, or,
    where its predictions are not labels of texts, gets hardly anything right.
    """
    shares = labels.value_counts(normalize=True)
    named = len(shares) > 0 and "" not in shares.index
    if points - (100 * float(shares.max()) if named else 0.0) >= effect.smallest:
        return effect.too_few
    does = "is hardly better than always predicting the most frequent label" if named else "gets hardly anything right"
    return effect.too_few or f"The model {does}, so there is nothing that attention could matter for."


def describe_loss(effect: Effect) -> str:
    """An effect in words: what a model loses with its interval, or gains where the loss is below zero."""
    gained = round(effect.value, 1) < 0
    value, low, high = (-effect.value, -effect.high, -effect.low) if gained else (effect.value, effect.low, effect.high)
    numbers = [f"{round(part, 1) + 0.0:.1f}".replace("-", "−") for part in (value, low, high)]
    points = effect.unit.removesuffix(" lost")
    return f"{'gains' if gained else 'loses'} {numbers[0]} {points} ({numbers[1]} to {numbers[2]})"


def per_cent(counts: Float[ndarray, "*corpora count"]) -> Float[ndarray, "*corpora"]:
    """Accuracy from what was right and how many there were."""
    return np.asarray(100 * counts[..., 0] / counts[..., 1])
