"""How good is the model at its task?

No test of attention means much on a model that does not know its task. The score is the accuracy, of translations the
BLEU; over several seeds it shows how far two trainings of the same model differ, which is what any other difference has
to be measured by (Wiegreffe & Pinter 2019, §3.2).
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field

from whence.experiments._config import Altering
from whence.experiments._marks import measured, summed
from whence.figures.intervals import intervals
from whence.measures.bootstrap import Interval, interval, resampled
from whence.results.columns import Column, Columns
from whence.results.verdict import Effect, Verdict

if TYPE_CHECKING:
    from whence.experiments._bench import Bench

CAPTION = "The score of each run, with its 95 % interval over the examples."
NEEDS_ANSWERS = True
SMALLEST = 2.0  # points above chance


class Config(Altering):
    """Mark the model's answers: accuracy, or BLEU of translations, also of the same model from other seeds."""

    retrain: int = Field(0, ge=0, description="train again from so many seeds, and mark each (0: the model as it is)")


COLUMNS = Columns(
    what="one row per example and seed",
    example=Column(int, "number of the example in its split"),
    label=Column(str, "the right answer, where it is one class"),
    seed=Column(int, "seed of the training, -1 for a model that came trained"),
    score=Column(float, "share of right answers; of a text written freely its BLEU / 100"),
    counts=Column(str, "what BLEU is summed from"),
)


def run(config: Config, bench: "Bench") -> pd.DataFrame:
    """The table: every example's score."""
    rows = []
    for seed, trained in bench.from_seeds(config.retrain):
        marks = trained.marks(config)
        rows += [
            {"example": number, "label": label, "seed": seed, "score": mark, "counts": counts}
            for number, label, mark, counts in zip(
                trained.chosen, trained.all_labels(), marks.scores, marks.written(), strict=True
            )
        ]
    return COLUMNS.table(rows)


def scored(table: pd.DataFrame) -> Interval:
    """The mean of the runs, with an interval over examples and seeds."""
    table = table.sort_values(["seed", "example"])
    measure, counts = summed(table["score"], table["counts"])
    by_seed = counts.reshape(table["seed"].nunique(), -1, counts.shape[-1])  # [seed example count]
    return interval(float(measure(by_seed.sum(1)).mean()), resampled(measure, by_seed)[:, 0])


def quantities(table: pd.DataFrame) -> dict[str, Interval]:
    """The numbers that a ledger may ask for."""
    unit = measured(table["counts"])
    runs = [scored(of_one).mean for _, of_one in table.groupby("seed")]
    spread = float(np.std(runs, ddof=1)) if len(runs) > 1 else float("nan")
    return {unit: scored(table), "SD over runs": Interval(spread, float("nan"), float("nan"))}


def figure(table: pd.DataFrame) -> Figure:
    """The score of each run with its interval."""
    unit = measured(table["counts"])
    effects = []
    for seed, rows in table.groupby("seed"):
        found = scored(rows)
        name = "the model as it is" if seed == -1 else f"seed {seed}"
        effects.append(Effect(name, found.mean, found.low, found.high, unit, 0.0, rows["example"].nunique(), 1))
    return intervals(effects, x_label="accuracy in per cent" if unit == "accuracy" else unit)


def verdict(table: pd.DataFrame, seed: int = 0) -> Verdict:
    """Whether the model knows its task: its score against what always naming the most frequent answer would get."""
    unit, found, chance = measured(table["counts"]), scored(table), _chance(table)
    effect = Effect(f"{unit} of the model", found.mean, found.low, found.high, f"points of {unit}", chance + SMALLEST,
                    table["example"].nunique(), table["seed"].nunique())  # fmt: skip
    answer, sentence = decided(effect, unit, chance)
    return Verdict(
        2, answer, sentence, (effect,),
        done="The model's answers were marked.",
        means="A model that does not know its task has no reasons that could be explained.",
        does_not_mean="That a model knows its task says nothing yet about its attention.",
    )  # fmt: skip


def _chance(table: pd.DataFrame) -> float:
    """Per cent right by always naming the most frequent label; nothing where answers are no labels."""
    shares = table.drop_duplicates("example")["label"].value_counts(normalize=True)
    return 100 * float(shares.max()) if len(shares) and "" not in shares.index else 0.0


def decided(effect: Effect, unit: str, chance: float) -> tuple[Any, str]:
    """Yes if the whole interval lies above chance and a little more, no if it lies below."""
    reaches = f"{effect.value:.1f} points of {unit} ({effect.low:.1f} to {effect.high:.1f})"
    beside = f"; always naming the most frequent answer would get {chance:.1f}" if chance else ""
    if effect.too_few:
        return "undecided", effect.too_few
    if effect.low > effect.smallest:
        return "yes", f"The model knows its task: {reaches}{beside}."
    if effect.high < effect.smallest:
        return "no", f"The model does not know its task: {reaches}{beside}."
    return "undecided", f"The model may not know its task: {reaches}{beside}."
