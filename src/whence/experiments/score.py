"""How well does the model do its task?

No test of attention means much on a model that cannot do its task. The score is the accuracy in per cent; of chunks
their F1 (Yang 2019, Table 1), of translations the BLEU; of series the mean over narratives of their concordance (Wu et
al. 2020, Table 1). Over several seeds it shows how far two trainings of the same model differ, the yardstick for any
other difference (Wiegreffe & Pinter 2019, §3.2).

When not to use it: as an answer about attention: it is what all other answers stand on.
"""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field

from whence.analysis.scores import COUNTS_MEANING, SCORE_MEANING, metric_and_counts, metric_name, score_interval
from whence.evaluation.config import AblationConfig
from whence.figures.intervals import intervals
from whence.measures.intervals import Interval
from whence.results.columns import EXAMPLE, LABEL, Column, Columns, rows_from
from whence.results.experiment import Experiment, Needs
from whence.results.row_order import RowOrder
from whence.results.verdict import Answer, Effect, Verdict

if TYPE_CHECKING:
    from whence.evaluation.context import Context

CAPTION = "The score of each run, with its 95 % interval over the examples."
SMALLEST = {"accuracy": 2.0, "F1": 2.0, "BLEU": 2.0, "concordance": 0.1}  # above chance
UNITS = {"concordance": "of concordance", **{name: f"points of {name}" for name in ("accuracy", "F1", "BLEU")}}
DIGITS = {"accuracy": 1, "F1": 1, "BLEU": 1, "concordance": 3}


class Config(AblationConfig):
    """Score the model's predictions by accuracy, F1, BLEU or concordance, also of seed replicas."""

    retrain: int = Field(0, ge=0, description="retrain from so many seeds, and score each (0: the model as it is)")

    @property
    def retrains(self) -> bool:
        """Whether models are retrained from other seeds."""
        return self.retrain > 0


COLUMNS = Columns(
    what="one row per example and seed",
    example=EXAMPLE,
    label=LABEL,
    seed=Column(int, "seed of the training, -1 for the given model"),
    measure=Column(str, "accuracy, F1, BLEU or concordance"),
    score=Column(float, f"{SCORE_MEANING}; of a series its concordance"),
    counts=Column(str, COUNTS_MEANING),
)


def run(config: Config, context: "Context") -> pd.DataFrame:
    """The table: every example's score."""
    from whence.evaluation.retraining import from_seeds
    from whence.evaluation.scoring import scores

    rows = []
    for seed, trained in from_seeds(context, config.retrain):
        scored = scores(trained, config)
        counts = pd.Series(scored.counts_as_text(), dtype=object)
        measure = "concordance" if trained.subject.task.predicts_values else metric_name(counts)
        columns = {"example": trained.numbers, "label": trained.labels, "score": scored.values, "counts": counts}
        rows += rows_from(columns, seed=seed, measure=measure)
    return COLUMNS.table(rows)


def mean_score(table: pd.DataFrame) -> Interval:
    """The mean of the runs, with an interval over examples and seeds."""
    table = table.sort_values(["seed", "example"])
    measure, counts = metric_and_counts(table["score"], table["counts"])
    by_seed = counts.reshape(table["seed"].nunique(), -1, counts.shape[-1])  # [seed example count]
    share = 0.01 if measure_of(table) == "concordance" else 1.0  # which is no per cent
    return score_interval(measure, by_seed).scaled(share)


def measure_of(table: pd.DataFrame) -> str:
    """What the scores of a table are."""
    return str(table["measure"].iloc[0])


def quantities(table: pd.DataFrame) -> dict[str, Interval]:
    """The quantities of a study's ledger."""
    runs = [mean_score(of_one).mean for _, of_one in table.groupby("seed")]
    over_examples = float(table.groupby("seed")["score"].std(ddof=0).mean())
    spreads = {
        "SD over runs": float(np.std(runs, ddof=1)) if len(runs) > 1 else np.nan,
        "SD over examples": over_examples,
    }
    return {
        measure_of(table): mean_score(table),
        **{name: Interval(sd, np.nan, np.nan) for name, sd in spreads.items()},
    }


def figure(table: pd.DataFrame) -> Figure:
    """The score of each run with its interval."""
    unit, effects = measure_of(table), []
    for seed, rows in table.groupby("seed"):
        found = mean_score(rows)
        label = "the model as it is" if seed == -1 else f"seed {seed}"
        effects.append(Effect.of("score", label, found, unit, 0.0, rows["example"].nunique(), variant=str(seed)))
    return intervals(effects, x_label="accuracy in per cent" if unit == "accuracy" else unit)


def verdict(table: pd.DataFrame) -> Verdict:
    """Whether the model can do its task: its score against that of always predicting the most frequent label."""
    unit, found, chance = measure_of(table), mean_score(table), _chance(table)
    n, seeds = table["example"].nunique(), table["seed"].nunique()
    effect = Effect.of("score", f"{unit} of the model", found, UNITS[unit], chance + SMALLEST[unit], n, seeds)
    answer, sentence = decide(effect, DIGITS[unit], chance)
    return Verdict(
        question=2,
        answer=answer,
        sentence=sentence,
        effects=(effect,),
        procedure="The model's predictions were scored against the labels.",
        means="A model that cannot do its task has no reasons that could be explained.",
        does_not_mean="That a model can do its task says nothing yet about its attention.",
    )


def _chance(table: pd.DataFrame) -> float:
    """Accuracy in per cent of always predicting the most frequent label; 0 where predictions are not labels."""
    shares = table.drop_duplicates("example")["label"].value_counts(normalize=True)
    return 100 * float(shares.max()) if len(shares) and "" not in shares.index else 0.0


def decide(effect: Effect, digits: int, chance: float) -> tuple[Answer, str]:
    """Yes if the whole interval lies above chance and a little more, no if it lies below."""
    value, low, high = (f"{number:.{digits}f}" for number in (effect.value, effect.low, effect.high))
    reaches = f"{value} {effect.unit} ({low} to {high})"
    baseline = f"; always predicting the most frequent label would get {chance:.1f}" if chance else ""
    if effect.too_few:
        return "undecided", effect.too_few
    return effect.judge(
        yes=f"The model can do its task: {reaches}{baseline}.",
        no=f"The model cannot do its task: {reaches}{baseline}.",
        undecided=f"The model may not be able to do its task: {reaches}{baseline}.",
    )


EXPERIMENT = Experiment(
    __doc__,
    Config,
    COLUMNS,
    CAPTION,
    run,
    figure,
    verdict,
    needs=Needs(classes=False),
    quantities=quantities,
    shards=RowOrder(blocks=("seed",)),
)
