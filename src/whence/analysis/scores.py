"""Scores of examples: accuracy, or the counts from which a corpus's F1 (of chunks) or BLEU (of texts) is computed."""

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
    """A metric computed from counts summed over a corpus, in points."""

    name: str
    measure: Measure


SCORE_MEANING = "accuracy; for chunks F1 / 100, for freely generated text BLEU / 100"
COUNTS_MEANING = (
    "counts of F1: correct, predicted and true chunks; or of BLEU: matching and all n-grams of 1 to 4 words, two"
    " lengths"
)
METRICS_BY_COUNTS = {
    bleu.COUNTS: CorpusMetric("BLEU", bleu.bleu),
    chunks.COUNTS: CorpusMetric("F1", chunks.chunk_f1),
}  # by their number


@dataclass(frozen=True, eq=False)
class Scores:
    """The score of each example, from 0 to 1; for translations and chunks also the counts of BLEU and F1."""

    values: Float[ndarray, " example"]
    counts: Float[ndarray, "example count"] | None = None

    def counts_as_text(self) -> list[str | None]:
        """The counts as in a table: numbers separated by spaces."""
        if self.counts is None:
            return [None] * len(self.values)
        return [" ".join(f"{count:g}" for count in row) for row in self.counts]


def metric_name(counts: "pd.Series[str]") -> str:
    """The metric of a table: accuracy, or BLEU or F1 where there are counts of it."""
    return _metric(counts).name


def metric_and_counts(
    scores: "pd.Series[float]", counts: "pd.Series[str]"
) -> tuple[Measure, Float[ndarray, "row count"]]:
    """The metric of a corpus in points, and its counts for each row of a table."""
    measure = _metric(counts).measure
    if measure is per_cent:
        return measure, np.stack([scores.to_numpy(float), np.ones(len(scores))], -1)
    return measure, np.array([text.split() for text in counts], float)


def _metric(counts: "pd.Series[str]") -> CorpusMetric:
    """The metric, identified by the number of counts; accuracy where there are none."""
    there = counts.dropna()
    return CorpusMetric("accuracy", per_cent) if there.empty else METRICS_BY_COUNTS[len(there.iloc[0].split())]


def why_undecidable(effect: Effect, labels: "pd.Series[str]", points: float) -> str:
    """Why nothing can be decided, else empty: there are few examples, or there is hardly anything to lose.

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
    """Accuracy from correct predictions and their number."""
    return np.asarray(100 * counts[..., 0] / counts[..., 1])
