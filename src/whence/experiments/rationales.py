"""Do an explainer's scores find the words that are annotated as decisive?

Rationales are words that people marked, or in synthetic corpora the words that determine the label. Each word of a text
is scored by an explainer, and the words are taken from the highest score down: the average precision is the area under
precision over recall, 1 if all marked words come first. Words of one score are taken together: a method that gives all
words one score gets the share that is marked, and in a short text an order by chance gets more (0.41, where one of six
is marked). The precision at their number is reported too: the share of marked words among as many of the
highest-scoring words, ties in random order; and token F1 and IOU F1 (DeYoung et al. 2020 §4.1), where as many words are
chosen as are marked in an average text. The average precision is their AUPRC. Of a narrative all are means over its
windows, within which scores are normalized (Wu et al. 2020, §5.2 and §3). Of a translation the last word is explained,
and the words that are linked to it are marked.

The smallest effect of interest is a twentieth more than random scores give. Examples without a marked word are left
out; signed scores count by size.

When not to use it: where marked words are people's and the question is faithfulness: a model may rightly rely on other
words. In synthetic corpora marked words do decide.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field

from whence.analysis.gates import CHANCE, CORRECT, why_gated
from whence.evaluation.config import AttributionConfig
from whence.figures.ranking import ranking
from whence.measures.intervals import Interval, mean_interval
from whence.results.columns import EXAMPLE, Column, Columns
from whence.results.experiment import ANY_TASK, Experiment
from whence.results.row_order import RowOrder
from whence.results.verdict import Answer, Effect, Verdict

if TYPE_CHECKING:
    from whence.evaluation.context import Context

CAPTION = "Average precision with which each explainer finds the marked words, the best first; 1: they all come first."
SMALLEST = 0.05  # of average precision
MEASURES = {
    "precision": "average precision",
    "at_marked": "precision at their number",
    "token_f1": "token F1",
    "iou_f1": "IOU F1",
}
ABOVE_RANDOM = "average_precision_above_random"  # the key of the gain over random scores


class Config(AttributionConfig):
    """Compare the scores of words with rationales, which mark the words that decide."""

    retrain: int = Field(0, ge=0, description="evaluate models retrained from so many seeds (0: the model as it is)")

    @property
    def retrains(self) -> bool:
        """Whether models are retrained from other seeds."""
        return self.retrain > 0


COLUMNS = Columns(
    what="one row per example that has marked words, explainer and seed",
    example=EXAMPLE,
    seed=Column(int, "seed of the training, -1 for the given model"),
    correct=CORRECT,
    chance=CHANCE,
    method=Column(str, "the explainer"),
    precision=Column(float, "average precision of the marked words, in the order of their scores"),
    at_marked=Column(float, "share of marked words among as many that score highest"),
    token_f1=Column(float, "F1 of the words, if as many are chosen as are marked in an average text"),
    iou_f1=Column(float, "F1 of spans of these words that overlap by half with marked ones"),
    marked=Column(float, "share of the words that are marked"),
)


def run(config: Config, context: "Context") -> pd.DataFrame:
    """The table: how well each explainer finds the marked words of each example."""
    from whence.evaluation.agreement import agreement
    from whence.evaluation.rationale_match import matches_by_method
    from whence.evaluation.retraining import from_seeds

    rows: list[dict[str, Any]] = []
    for seed, trained in from_seeds(context, config.retrain):
        agreed = agreement(trained)
        for method, found in matches_by_method(trained, config.method, config.options).items():
            columns = zip(trained.numbers, trained.examples, *agreed, *found, strict=True)
            for number, example, correct, chance, *values in columns:
                share = float(np.mean(example.deciding or (False,)))
                rows.append(
                    {
                        "example": number,
                        "seed": seed,
                        "correct": correct,
                        "chance": chance,
                        "method": method,
                        "marked": share,
                        **dict(zip(MEASURES, values, strict=True)),
                    }
                )
    return COLUMNS.table([row for row in rows if np.isfinite(row["precision"])])


def mean_precision(table: pd.DataFrame, method: str, less: str | None = None, measure: str = "precision") -> Interval:
    """The mean precision of a method, or how far it is above that of another, with an interval over examples and
    seeds.
    """
    by_seed = table.pivot(index=["seed", "example"], columns="method", values=measure).dropna()
    values = by_seed[method] - (by_seed[less] if less else 0.0)
    return mean_interval(
        values.to_numpy(float).reshape(table["seed"].nunique(), -1), within=None if less else (0.0, 1.0)
    )


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Each explainer with its mean precisions and their intervals, the best first."""
    rows = []
    for method in table["method"].unique():
        row: dict[str, Any] = {"method": method}
        for measure in ("at_marked", "precision", "token_f1", "iou_f1"):
            name = MEASURES[measure]
            one = mean_precision(table, str(method), measure=measure)
            row |= {name: one.mean, f"{name}: low": one.low, f"{name}: high": one.high}
        rows.append(row)
    return pd.DataFrame(rows).sort_values("average precision", ascending=False, kind="stable", ignore_index=True)


def quantities(table: pd.DataFrame) -> dict[str, Interval]:
    """The quantities of a study's ledger."""
    found = {}
    for method in table["method"].unique():
        for measure, name in MEASURES.items():
            found[f"{name} of {method}"] = mean_precision(table, str(method), measure=measure)
    return found


def effects(table: pd.DataFrame) -> list[Effect]:
    """The precision of each explainer, the first one's gain over random scores before it, if both were run."""
    n, seeds = table["example"].nunique(), table["seed"].nunique()
    first = str(table["method"].iloc[0]) if len(table) else ""
    unit, found = "of average precision (0 to 1)", list[Effect]()
    if first != "random" and "random" in set(table["method"]):
        gain, label = mean_precision(table, first, "random"), f"{first}, above random scores"
        found.append(Effect.of(ABOVE_RANDOM, label, gain, unit, SMALLEST, n, seeds, variant=first))
    for method in map(str, table["method"].unique()):
        precision = mean_precision(table, method)
        found.append(Effect.of("average_precision", method, precision, unit, SMALLEST, n, seeds, variant=method))
    return found


def figure(table: pd.DataFrame) -> Figure:
    """The average precision of each explainer with its interval, the best first; random scores included."""
    best = "average precision"
    return ranking(summary(table), "method", best, f"{best}: low", f"{best}: high")


def verdict(table: pd.DataFrame) -> Verdict:
    """Whether the first explainer finds the marked words better than random scores do."""
    found, method = effects(table), str(table["method"].iloc[0])
    answer, sentence = decide(found[0], method, float(table["marked"].mean()), why_gated(table))
    return Verdict(
        question=6,
        answer=answer,
        sentence=sentence,
        effects=tuple(found),
        procedure="The words of each text were ranked by their scores, and average precision measured how early the"
        " words come that are marked as deciding.",
        means="Where marked words come early, the scores agree with the annotators.",
        does_not_mean="Marks say what people find deciding, or what determined the label; the model may have used other"
        " words (question 3).",
    )


def decide(effect: Effect, method: str, marked: float, why_gated: str = "") -> tuple[Answer, str]:
    """Yes if the whole interval of the gain is above the smallest effect of interest, no if it is below."""
    if why_gated or effect.too_few:
        return "undecided", effect.too_few or why_gated
    if effect.key != ABOVE_RANDOM:
        return (
            "undecided",
            f"By {method} the marked words were ranked, but not compared with random scores: add the method random.",
        )
    much = f"{effect.value:.2f} ({effect.low:.2f} to {effect.high:.2f}); {100 * marked:.0f} % of the words are marked"
    return effect.judge(
        yes=f"By {method}, marked words come earlier than by chance: average precision is higher by {much}.",
        no=f"By {method}, marked words come hardly earlier than by chance: average precision differs by {much}.",
        undecided=f"By {method}, marked words may come earlier than by chance: average precision differs by {much}.",
    )


EXPERIMENT = Experiment(
    __doc__,
    Config,
    COLUMNS,
    CAPTION,
    run,
    figure,
    verdict,
    ANY_TASK,
    summary=summary,
    quantities=quantities,
    shards=RowOrder(blocks=("seed", "method")),
)
