"""Scores of examples: accuracy, or the counts from which a corpus's F1 (of chunks) or BLEU (of texts) is computed."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from whence.analysis.gates import above_chance
from whence.measures import bleu
from whence.measures import chunk_f1 as chunks
from whence.measures.intervals import (
    Counts,
    Interval,
    Measure,
    corpus_interval,
    corpus_loss_interval,
    crossed_share_interval,
    mean_interval,
    paired_share_interval,
)
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


def why_undecidable(effect: Effect, rows: pd.DataFrame, column: str, points: float) -> str:
    """Why nothing can be decided, else empty: there are few examples, or there is hardly anything to lose.

    That is so where a model with so many `points` is not clearly better than always predicting the most frequent label
    (by the score of each row in `column`), or, where its predictions are not labels of texts, gets hardly anything
    right.
    """
    named = len(rows) > 0 and not (rows["label"] == "").any()
    most = rows["label"].mode().iloc[0] if named else ""
    always = 100 * float((rows["label"] == most).mean()) if named else 0.0
    if points - always >= effect.smallest and (
        not named or _clearly_above(rows[column] - (rows["label"] == most).astype(float))
    ):
        return effect.too_few
    does = (
        "is not clearly better than always predicting the most frequent label"
        if named
        else "gets hardly anything right"
    )
    return effect.too_few or f"The model {does}, so there is nothing that attention could matter for."


def _clearly_above(differences: "pd.Series[float]") -> bool:
    """Whether the mean is above zero, by the same level as in `gates`."""
    return above_chance(differences.to_numpy(float)).low > 0


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


def score_interval(measure: Measure, counts: Counts, level: float = 0.95) -> Interval:
    """The score of a corpus in points, mean over the seeds, with an interval over examples and seeds."""
    if measure is not per_cent:
        return corpus_interval(measure, counts, level)
    shares = counts[..., 0] / counts[..., 1]
    negative = shares.min() < 0  # concordance is no share
    return (mean_interval if negative else crossed_share_interval)(shares, level).scaled(100)


def loss_interval(measure: Measure, base: Counts, ablated: Counts, level: float = 0.95) -> Interval:
    """What is lost of a corpus's score in points, mean over the seeds, with an interval over examples and seeds."""
    if measure is not per_cent:
        return corpus_loss_interval(measure, base, ablated, level)
    lost = base[..., 0] / base[..., 1] - ablated[..., 0] / ablated[..., 1]
    beyond = np.abs(lost).max(initial=0.0) > 1  # concordance is no share
    return (mean_interval if beyond else paired_share_interval)(lost, level).scaled(100)
