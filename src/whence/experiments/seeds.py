"""How much does the attention depend on the training seed?

Wiegreffe & Pinter 2019, §3.3. The same model is trained from several seeds, and each is compared with the given model,
text by text: by the distance of their attention (JSD in nats, 0 to ln 2 = 0.69, mean over sites, heads and rows) and of
their predictions (TVD = ½ Σ |p − q|). Where another seed gives very different attention, asking what the attention
explains makes little sense; and an adversary (`adversary`) counts only as far as it goes beyond the seeds.

The order of heads is arbitrary: where a site has several, those of another seed are matched in the order that comes
nearest to this model's, on a sample of the texts (Kuhn 1955, by `scipy.optimize.linear_sum_assignment`).

Differs from the paper: it has eight other seeds and takes the median over them; here all are in the table, and the
interval is over texts and seeds.

When not to use it: for models that were not trained by Whence or whose training data are not at hand: the seeds would
be those of another model.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field

from whence.analysis.instance_adversary import MOST, VERY_DIFFERENT
from whence.evaluation.config import AblationConfig
from whence.figures.violins import violins
from whence.measures.intervals import Interval, crossed_share_interval, mean_interval
from whence.results.columns import EXAMPLE, LABEL, Column, Columns, rows_from
from whence.results.experiment import Experiment
from whence.results.row_order import RowOrder
from whence.results.verdict import Answer, Effect, Verdict

if TYPE_CHECKING:
    from whence.evaluation.context import Context

CAPTION = (
    "How far the attention of the same training from other seeds is from this model's, by this model's confidence."
)
FEW = 0.2  # of the texts


class Config(AblationConfig):
    """Train the same model from other seeds, and compare them with this one."""

    others: int = Field(5, gt=0, description="models of the same training from other seeds")


COLUMNS = Columns(
    what="one row per example and seed",
    example=EXAMPLE,
    label=LABEL,
    seed=Column(int, "seed of the other model's training"),
    max_probability=Column(float, "confidence: this model's largest probability, mean over its predictions"),
    jsd=Column(
        float, "JSD of the two models' attention in nats: mean over sites, heads (in the nearest order) and rows"
    ),
    tvd=Column(float, "total variation of the predictions: ½ Σ |p − q|, mean over the predictions"),
    same=Column(float, "share of the predictions that are the same class"),
    base=Column(float, "accuracy of this model on the example"),
    score=Column(float, "accuracy of the other model"),
)


def run(config: Config, context: "Context") -> pd.DataFrame:
    """The table: every example under every other seed."""
    from whence.evaluation.model_comparison import compare
    from whence.evaluation.retraining import seed_replicas
    from whence.evaluation.scoring import confidence, scores

    base, rows = scores(context, config).values, []
    sure = confidence(context)
    for seed, other in seed_replicas(context, config.others):
        apart = compare(context, other, config.sites)
        columns: dict[str, Any] = {
            "example": context.numbers,
            "label": context.labels,
            "max_probability": sure,
            "jsd": apart.jsd_matched,
            "tvd": apart.tvd,
            "same": apart.same,
            "base": base,
            "score": scores(other, config).values,
        }
        rows += rows_from(columns, seed=seed)
    return COLUMNS.table(rows)


def _by_seed(table: pd.DataFrame, column: str) -> Any:
    """[seed example]."""
    rows = table.sort_values(["seed", "example"])
    return rows[column].to_numpy(float).reshape(rows["seed"].nunique(), -1)


def _differing(table: pd.DataFrame) -> Interval:
    """The share of texts to which another seed attends very differently."""
    return crossed_share_interval((_by_seed(table, "jsd") > VERY_DIFFERENT).astype(float))


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Each seed in one row."""
    means = table.groupby("seed")[["jsd", "tvd", "same", "score"]].mean().reset_index()
    return means.rename(columns={"jsd": "JSD", "tvd": "TVD", "same": "same prediction"})


def quantities(table: pd.DataFrame) -> dict[str, Interval]:
    """The quantities of a study's ledger: `JSD`, `TVD` and `same prediction`, means over seeds and texts; `very
    different`, the share of texts.
    """
    found = {
        name: mean_interval(_by_seed(table, column))
        for name, column in (("JSD", "jsd"), ("TVD", "tvd"), ("same prediction", "same"))
    }
    return {**found, "very different": _differing(table)}


def figure(table: pd.DataFrame) -> Figure:
    """Violins of JSD by the model's confidence, the seeds together."""
    return violins(
        table,
        x="max_probability",
        y="jsd",
        colour="label",
        upto=float(np.log(2)),
        x_label="probability of the model's prediction",
        y_label="JSD of the attention from another seed (nats)",
    )


def verdict(table: pd.DataFrame) -> Verdict:
    """Whether it makes sense to ask what the attention explains: no if another seed attends very differently to most
    texts.
    """
    found = _differing(table)
    n, seeds = table["example"].nunique(), table["seed"].nunique()
    label = "texts to which another seed attends very differently (JSD above 0.2)"
    effect = Effect.of("attended_differently", label, found, "of the texts", MOST, n, seeds)
    others = [
        Effect.of(
            column,
            f"mean {column.upper()} between seeds",
            mean_interval(_by_seed(table, column)),
            unit,
            0.0,
            n,
            seeds,
        )
        for column, unit in (("jsd", "nats"), ("tvd", "of the prediction"))
    ]
    answer, sentence = decide(effect, others[1])
    return Verdict(
        question=2,
        answer=answer,
        sentence=sentence,
        effects=(effect, *others),
        procedure=f"The same model was trained from {seeds} other seeds, and each was compared with this one, text by"
        " text. The intervals are over texts and seeds.",
        means="Where the seed decides which words are attended to, the attention says as much about the seed as about"
        " the text.",
        does_not_mean="Models with similar attention may all attend to words that do not decide (question 3). And one"
        " model's attention may well explain that model, though another model's is different.",
    )


def decide(effect: Effect, predictions: Effect) -> tuple[Answer, str]:
    """No if another seed attends very differently to most texts; yes if to few."""
    if effect.too_few:
        return "undecided", effect.too_few
    share = f"{100 * effect.value:.0f} % of the texts ({100 * effect.low:.0f} to {100 * effect.high:.0f})"
    distance = (
        f"the same training from another seed attends very differently to {share}; its predictions move by"
        f" {predictions.value:.2f}"
    )
    if effect.low > MOST:
        return "no", f"The attention is largely a matter of the seed: {distance}."
    if effect.high < FEW:
        return "yes", f"The attention does not depend much on the seed: {distance}."
    return "undecided", f"The attention depends on the seed in part: {distance}."


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
    shards=RowOrder(blocks=("seed",)),
)
