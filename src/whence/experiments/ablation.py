"""How much accuracy is lost when the model's attention is replaced?

Vashishth et al. 2019, §4.1, Tables 1 and 2; Wiegreffe & Pinter 2019, §3.1. The attention weights are replaced by
uniform ones, by random ones, or by their own in random order: in a trained model (*infer*), or in a model that is
retrained with them (*train+infer*). Retraining is the fairer test, since the rest of the model can compensate.

When not to use it: without retraining it shows what this model uses, not what the task needs. On fewer than 20 texts,
or a model no better than chance, it decides nothing.
"""

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field

from whence.analysis.ablation_verdict import RETRAINED, WORDS, advice, decide, deciding_effects
from whence.analysis.scores import (
    COUNTS_MEANING,
    SCORE_MEANING,
    Scores,
    loss_interval,
    metric_and_counts,
    metric_name,
    score_interval,
    why_undecidable,
)
from whence.core.errors import BadConfig
from whence.evaluation.config import AblationConfig
from whence.evaluation.locations import Granularity, ablation_override, describe_places, places
from whence.figures.intervals import intervals
from whence.measures.intervals import Interval, Measure, level_for
from whence.results.columns import EXAMPLE, LABEL, Column, Columns, rows_from
from whence.results.experiment import Experiment, streams_of_batches
from whence.results.row_order import RowOrder
from whence.results.verdict import Effect, Verdict

if TYPE_CHECKING:
    from whence.evaluation.context import Context

CAPTION = "Points lost when attention is replaced. The grey band is too small to be of interest."
SMALLEST = 2.0  # points of accuracy
ONES = {"uniform": "uniform ones", "random": "random ones", "permuted": "their own in random order"}
WHEN = {"infer": "at inference", "train+infer": "retrained"}


class Config(AblationConfig):
    """Replace the attention by uniform, random or shuffled weights, and measure how much accuracy is lost."""

    variants: tuple[Literal["uniform", "random", "permuted"], ...] = Field(
        ("uniform", "random", "permuted"), min_length=1, description="what replaces the weights"
    )
    draws: int = Field(5, gt=0, description="draws of random and shuffled weights for each example")
    granularity: Granularity = Field(
        "all", description="replace attention everywhere at once, layer by layer, or head by head"
    )
    retrain: int = Field(0, ge=0, description="also retrain with replaced attention, from so many seeds (0: do not)")
    retrained: tuple[Literal["uniform", "random"], ...] = Field(
        ("uniform", "random"), description="which of the variants to retrain with"
    )

    @property
    def retrains(self) -> bool:
        """Whether models are retrained from other seeds."""
        return self.retrain > 0


COLUMNS = Columns(
    what="one row per example, ablation and seed",
    example=EXAMPLE,
    label=LABEL,
    place=Column(str, "where attention was replaced"),
    variant=Column(str, "uniform, random or permuted"),
    when=Column(str, "infer: replaced in the trained model; train+infer: in training too"),
    seed=Column(int, "seed of the training, -1 for the given model"),
    base=Column(float, f"with the model's own attention: {SCORE_MEANING}"),
    ablated=Column(float, "the same with ablated attention, mean over the draws"),
    base_counts=Column(str, COUNTS_MEANING),
    ablated_counts=Column(str, "the same with ablated attention, summed over the draws"),
)


def run(config: Config, context: "Context") -> pd.DataFrame:
    """The table: the score of every example with its own attention and with replaced attention."""
    from whence.evaluation.retraining import from_seeds, retrained
    from whence.evaluation.scoring import scores

    rows: list[dict[str, Any]] = []
    if not config.retrain and config.retrained not in ((), Config.model_fields["retrained"].default):
        raise BadConfig(
            "retrained names the variants to retrain with, and retrain the number of seeds: give --retrain a number too"
        )
    again = list(config.retrained) if config.retrain else []
    for seed, trained in from_seeds(context, config.retrain, again, config.sites):
        base = scores(trained, config)
        for place in places(trained.subject, config.granularity, trained.first_batch(), config.sites):
            for variant in config.variants:
                ablated = scores(
                    trained, config, partial(ablation_override, variant), place, draws=_draws(config, variant)
                )
                rows += _rows(trained, base, ablated, place.name, variant, "infer", seed)
        for variant in again:
            other = retrained(context, seed, variant, config.sites)
            (everywhere,) = places(other.subject, "all", other.first_batch(), config.sites)
            ablated = scores(
                other, config, partial(ablation_override, variant), everywhere, True, _draws(config, variant)
            )
            rows += _rows(trained, base, ablated, everywhere.name, variant, "train+infer", seed)
    return COLUMNS.table(rows)


def _draws(config: Config, variant: str) -> int:
    return 1 if variant == "uniform" else config.draws


def _rows(
    context: "Context", base: Scores, ablated: Scores, place: str, variant: str, when: str, seed: int
) -> list[dict[str, Any]]:
    columns = {
        "example": context.numbers,
        "label": context.labels,
        "base": base.values,
        "ablated": ablated.values,
        "base_counts": base.counts_as_text(),
        "ablated_counts": ablated.counts_as_text(),
    }
    return rows_from(columns, place=place, variant=variant, when=when, seed=seed)


def effects(table: pd.DataFrame) -> list[Effect]:
    """For every ablation what is lost of accuracy, F1 or BLEU, in points, with its interval.

    Where attention is ablated at several places, the intervals of a variant hold together for all of them
    (Bonferroni), so that the largest may be picked out.
    """
    n_places = table["place"].nunique()
    unit = f"points of {metric_name(table['base_counts'])} lost"
    found = []
    for (when, variant, place), rows in table.groupby(["when", "variant", "place"], sort=False):
        measured_ = loss_interval(*table_counts(rows), level_for(n_places))
        found.append(
            Effect.of(
                "score_lost",
                f"{WORDS[str(variant)]}{'' if n_places == 1 else f' at {place}'}, {WHEN[str(when)]}",
                measured_,
                unit,
                SMALLEST,
                rows["example"].nunique(),
                rows["seed"].nunique(),
                place="" if n_places == 1 else str(place),
                variant=str(variant),
                when=str(when),
            )
        )
    return found


def table_counts(rows: pd.DataFrame) -> tuple[Measure, np.ndarray, np.ndarray]:
    """The rows of one ablation as a metric, and its counts with and without attention: [seed example count]."""
    rows = rows.sort_values(["seed", "example"])
    n_seed = rows["seed"].nunique()
    measure, base = metric_and_counts(rows["base"], rows["base_counts"])
    _, ablated = metric_and_counts(rows["ablated"], rows["ablated_counts"])
    return measure, base.reshape(n_seed, -1, base.shape[-1]), ablated.reshape(n_seed, -1, base.shape[-1])


def score(table: pd.DataFrame, side: Literal["base", "ablated"] = "base") -> Interval:
    """Accuracy in per cent, F1 or BLEU, mean over the seeds, with an interval over examples and seeds."""
    measure, base, ablated = table_counts(table.drop_duplicates(["seed", "example"]))
    counts = base if side == "base" else ablated
    return score_interval(measure, counts)


def quantities(table: pd.DataFrame) -> dict[str, Interval]:
    """The score, by the name of its measure, and how much each ablation (`uniform, infer`) changes it, in points."""
    numbers = {metric_name(table["base_counts"]): score(table)}
    for (variant, when), rows in table.groupby(["variant", "when"], sort=False):
        numbers[f"{variant}, {when}"] = loss_interval(*table_counts(rows)).scaled(-1)
    return numbers


def rows_of(table: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """The rows of the ablation that `quantities` gives by this name."""
    return table[table["variant"] + ", " + table["when"] == quantity]


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Accuracy in per cent, or F1 or BLEU, with and without attention: one row per ablation."""
    rows = []
    for (when, variant, place), of_one in table.groupby(["when", "variant", "place"], sort=False):
        measure, *both = table_counts(of_one)
        base, ablated = (float(measure(counts.sum(1)).mean()) for counts in both)
        rows.append(
            {
                "when": when,
                "variant": variant,
                "place": place,
                "base": base,
                "ablated": ablated,
                "change": ablated - base,
            }
        )
    return pd.DataFrame(rows).round(1)


def figure(table: pd.DataFrame) -> Figure:
    """What is lost, one line per ablation, with its interval and the smallest effect of interest."""
    return intervals(effects(table), x_label=f"points of {metric_name(table['base_counts'])} lost")


def verdict(table: pd.DataFrame) -> Verdict:
    """Whether the model needs its attention, by the rules of `analysis.ablation_verdict`."""
    found = effects(table)
    votes = deciding_effects(found)
    _, first = next(iter(table.groupby(["when", "variant", "place"], sort=False)))
    measure, base, _ = table_counts(first)
    why_not = why_undecidable(votes[0], first, "base", float(measure(base.sum(1)).mean()))
    answer, sentence = decide(votes, why_not)
    retrained = any(effect.when == RETRAINED for effect in found)
    also = ", also in models that were retrained with them" if retrained else ""
    together = " The intervals hold for all places together." if table["place"].nunique() > 1 else ""
    further = (
        "Where a model retrained with uniform attention does as well, attention is not needed for the task."
        if retrained
        else "The model was not retrained, so this shows what it uses, not what it needs."
    )
    return Verdict(
        question=1,
        answer=answer,
        sentence=sentence,
        effects=(*votes, *(effect for effect in found if effect not in votes)),
        procedure=f"The attention weights were replaced by {_replaced(table)}, and the predictions were scored again"
        f"{also}.{together}",
        means=f"Where {metric_name(table['base_counts'])} falls, the model's success depends on its own attention"
        f" weights. {further}",
        does_not_mean="Attention that matters is not yet an explanation: other weights may serve as well (question 5),"
        " and the words with most weight need not be those that decide (question 3).",
        advice=advice(answer, votes, why_not),
    )


def _replaced(table: pd.DataFrame) -> str:
    """What replaced the weights, and where, in words."""
    *others, last = [ONES[variant] for variant in dict.fromkeys(table["variant"])]
    return f"{', by '.join(others)}{' and by ' * bool(others)}{last}{describe_places(table['place'])}"


EXPERIMENT = Experiment(
    __doc__,
    Config,
    COLUMNS,
    CAPTION,
    run,
    figure,
    verdict,
    summary=summary,
    quantities=quantities,
    shards=RowOrder(blocks=("seed", "when", "place", "variant")),
    cache_key=streams_of_batches,
)
