"""Can another model learn to give the same predictions with very different attention?

Wiegreffe & Pinter 2019, §4; Yang 2019, §4.2. A second model of the same kind is trained on

    distance(ŷ, ŷ_base) − λ · divergence(α, α_base)

for several λ, each from several seeds. Unlike in `instance_adversary`, the adversary is a whole model, which computes
its attention from the text. For every example the table holds the distance of the attention from the base model's (JSD
in nats, 0 to ln 2 = 0.69, mean over sites, heads and rows) and the distance of the prediction (TVD = ½ Σ |p − q|). The
adversaries are compared with models that differ for other reasons: seed replicas (the yardstick), and a model trained
with uniform attention.

Attention is *very different* above a JSD of 0.2 (see `instance_adversary`); a prediction *stays the same* where the
class is the same and the TVD is at most 0.1. The order of heads is arbitrary: a model with the same heads in another
order is no adversary, though it differs head by head. The verdict therefore uses the JSD with the heads in the order
that comes nearest.

Differs from the papers: distance is total variation and divergence JSD by default, both means (see
`whence.training.adversarial`; `--average-over` has the authors' choices); the epoch with the least loss on dev is kept
(Wiegreffe & Pinter: on train; Yang 2019: the best F1 on test). Wiegreffe & Pinter's code halves |p − q| of one sigmoid,
which is half the total variation of two classes, so their λ is 2λ here; and multiplies the loss by the class weights
of the batch.

When not to use it: for models that you cannot retrain on their own training data; `instance_adversary` needs no
training. One seed shows that an adversary exists, not how often training finds one.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field

from whence.analysis.adversary import by_strength, decide, describe_basins, effects, numbers, outcomes
from whence.analysis.gates import CHANCE, CORRECT, why_gated
from whence.evaluation.config import AdversarialConfig
from whence.figures.model_scatter import model_scatter
from whence.measures.intervals import Interval
from whence.results.columns import EXAMPLE, LABEL, Column, Columns, rows_from
from whence.results.experiment import Experiment
from whence.results.row_order import RowOrder
from whence.results.verdict import Verdict

if TYPE_CHECKING:
    from whence.analysis.scores import Scores
    from whence.evaluation.context import Context

CAPTION = (
    "How far the attention of other models is from this one's, and how far their predictions. Bottom right: different"
    " attention, same predictions. The line joins the adversaries by λ."
)
LABELS = {
    "JSD": "JSD between the attention and the base model's (nats)",
    "TVD": "TVD of the predictions",
    "KL": "KL of the attention, mean over cells (nats)",
    "NLL": "NLL of the labels",
}


class Config(AdversarialConfig):
    """Train models that predict like this one and attend differently."""

    yardstick: int = Field(
        0, ge=0, description="seed replicas to compare with: models of the same training from other seeds (0: none)"
    )
    uniform: bool = Field(False, description="also compare with a model trained with uniform attention")


COLUMNS = Columns(
    what="one row per example and model",
    example=EXAMPLE,
    label=LABEL,
    correct=CORRECT,
    chance=CHANCE,
    who=Column(str, "base, adversary, seed (a seed replica) or uniform (trained with uniform attention)"),
    strength=Column(float, "λ of an adversary"),
    seed=Column(int, "seed of the model's training; of an adversary its number"),
    jsd=Column(float, "JSD of its attention and the base's in nats: mean over sites, heads and real rows"),
    jsd_matched=Column(float, "the same with its heads in the order that comes nearest to the base's"),
    kl=Column(float, "KL(its ‖ the base's) in nats, the same mean"),
    kl_cells=Column(float, "KL divided by the number of keys: the mean over cells, as Yang 2019 has it"),
    tvd=Column(float, "total variation between its predictions and the base's: ½ Σ |p − q|, mean over the predictions"),
    same=Column(float, "share of the predictions that are the base's class"),
    nll=Column(float, "negative log-likelihood of the labels, mean"),
    base=Column(float, "accuracy of the base model on the example"),
    score=Column(float, "accuracy on the example"),
    base_counts=Column(str, "counts of the base's F1 or BLEU; empty for accuracy"),
    counts=Column(str, "counts of F1 or BLEU; empty for accuracy"),
)


def run(config: Config, context: "Context") -> pd.DataFrame:
    """The table: every example under every model."""
    from whence.evaluation.agreement import agreement
    from whence.evaluation.checks import refuse_translator
    from whence.evaluation.retraining import retrained, seed_replicas
    from whence.evaluation.scoring import scores
    from whence.evaluation.trained_variants import adversaries

    refuse_translator(context.subject, "adversary needs a model that predicts classes")
    base = scores(context, config)
    rows = _rows(config, context, base, context, "base", np.nan, -1)
    for strength, seed, adversary in adversaries(context, config):
        rows += _rows(config, context, base, adversary, "adversary", strength, seed)
    for seed, other in seed_replicas(context, config.yardstick):
        rows += _rows(config, context, base, other, "seed", np.nan, seed)
    if config.uniform and context.training is not None:
        other = retrained(context, context.training.seed, "uniform", config.sites)
        rows += _rows(config, context, base, other, "uniform", np.nan, context.training.seed)
    known = agreement(context)._asdict()
    by_example = {number: {name: known[name][at] for name in known} for at, number in enumerate(context.numbers)}
    return COLUMNS.table({**row, **by_example[row["example"]]} for row in rows)


def _rows(
    config: AdversarialConfig,
    context: "Context",
    base: "Scores",
    other: "Context",
    who: str,
    strength: float,
    seed: int,
) -> list[dict[str, Any]]:
    """Every example under one model."""
    from whence.evaluation.model_comparison import compare
    from whence.evaluation.scoring import paired_scores, scores_as_trained

    columns = vars(compare(context, other, config.sites)) | paired_scores(
        context, base, scores_as_trained(other, config)
    )
    return rows_from(columns, who=who, strength=strength, seed=seed)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Each model in one row: its distance from the base, and its score."""
    return outcomes(table)


def quantities(table: pd.DataFrame) -> dict[str, Interval]:
    """The quantities of a study's ledger: `JSD at 0.2`, `TVD at 0.2`, `NLL at 0.2`, `KL at 0.2` (mean over cells),
    `score at 0.2` (points) and `share at 0.2` (of one), where 0.2 is λ; the same of `base`, `seeds` and `uniform`; `KL
    of the first that broke`; and `judged exclusive, %` and `judged not exclusive, %`, 100 if that is the verdict.
    """
    return numbers(table)


def remark(table: pd.DataFrame) -> str:
    """Whether there is a "safe point", in a sentence (Yang 2019, §5); nothing of fewer than four adversaries."""
    return describe_basins(table)


def figure(table: pd.DataFrame) -> Figure:
    """Prediction by attention, a dot a model: TVD by JSD (Wiegreffe & Pinter Fig. 5), NLL by KL (Yang 2019 Fig. 1)."""
    return model_scatter(outcomes(table), by_strength(table), {"JSD": "TVD", "KL": "NLL"}, LABELS)


def verdict(table: pd.DataFrame) -> Verdict:
    """Whether the attention is exclusive: no if a model was found that attends very differently to most texts with the
    same predictions, yes if every one does so for few.
    """
    found = effects(table)
    answer, sentence = decide(found, why_gated(table))
    return Verdict(
        question=5,
        answer=answer,
        sentence=sentence,
        effects=tuple(found),
        procedure="Models of the same kind were trained to predict like this one and to attend differently, for every λ"
        " and seed; all were compared with it, text by text. The intervals hold for all λ together. "
        + describe_basins(table),
        means="Where a whole model attends very differently and gives the same predictions, the weights that this model"
        " shows are one of several ways in which models of its kind can reach these predictions.",
        does_not_mean="The adversary is another model: that it attends differently does not show that this one could,"
        " nor that this model's attention does not matter to it (question 1) or misleads (question 3). Where no such"
        " model was found, another λ or longer training might find one.",
    )


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
    remark=remark,
    shards=RowOrder(blocks=("who", "strength", "seed")),
)
