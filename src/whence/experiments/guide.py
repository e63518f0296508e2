"""Does imposing this attention on another model help that model?

Wiegreffe & Pinter 2019, §3.4; Yang 2019, §4.3 and §6. The attention that a model gives to each text is imposed on
another model while it is trained and while it is tested. If the attention shows which words matter, it helps more than
uniform or random weights, or than the same weights shuffled. The other model is the same one with its other parameters
trained (*same*; Yang 2019), or one without context (*words*): for a tagger a feed-forward layer (`weighted`; Yang 2019
§6), for an additive model its form without an encoder (Wiegreffe & Pinter's MLP).

Sources: `base`, this model's attention; `adversary`, of models trained to attend differently (see `adversary`), for
each λ; `uniform`, `random` (drawn once for each text), `permuted` (this model's in an order drawn once for each text);
and `none`, where nothing is imposed and the model computes its own.

Differs from Yang 2019, whose code never handed the stored attention to the probe: its Table 2 (.90, .90, .89) is three
runs of what is the source `none` here, which differ by chance alone.

When not to use it: where the other model has context of its own, so that imposed weights hardly matter to it; the
source `uniform` shows whether they do.
"""

from typing import TYPE_CHECKING, Annotated, Literal

import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field

from whence.analysis.guide import decide, effects, levels, numbers, source_scores
from whence.evaluation.config import AdversarialConfig
from whence.figures.intervals import intervals
from whence.measures.intervals import Interval
from whence.options import usually
from whence.results.columns import EXAMPLE, LABEL, Column, Columns, rows_from
from whence.results.experiment import Experiment
from whence.results.row_order import RowOrder
from whence.results.verdict import Verdict

if TYPE_CHECKING:
    from whence.evaluation.context import Context

CAPTION = "What a model gains from this attention compared with other weights."


class Config(AdversarialConfig):
    """Train and test another model with this model's attention imposed on it."""

    sources: tuple[Literal["base", "uniform", "random", "permuted", "none"], ...] = Field(
        ("base", "uniform", "random", "permuted", "none"), min_length=1, description="whose weights are imposed"
    )
    strengths: Annotated[tuple[float, ...], usually("none", "[FLOAT ...]")] = Field(
        (), description="λ of adversaries whose attention is imposed too"
    )
    into: Literal["same", "words"] = Field(
        "same", description="the guided model: the same one with its other parameters trained, or one without context"
    )

    def adversarial_config(self) -> AdversarialConfig:
        """How the adversaries are trained: one of each λ."""
        return AdversarialConfig(
            **{**{name: getattr(self, name) for name in AdversarialConfig.model_fields}, "seeds": 1}
        )


COLUMNS = Columns(
    what="one row per example, source and seed",
    example=EXAMPLE,
    label=LABEL,
    source=Column(str, "base, adversary, uniform, random, permuted or none (not imposed)"),
    strength=Column(float, "λ of the adversary whose attention is imposed"),
    into=Column(str, "same: the same model, other parameters trained; words: a model without context"),
    seed=Column(int, "which of the guided models, counted from 0"),
    base=Column(float, "accuracy of the model whose attention it is, on the example"),
    score=Column(float, "accuracy of the guided model"),
    base_counts=Column(str, "counts of the first F1 or BLEU; empty for accuracy"),
    counts=Column(str, "counts of the second F1 or BLEU; empty for accuracy"),
)


def run(config: Config, context: "Context") -> pd.DataFrame:
    """The table: every example under every guided model."""
    from whence.evaluation.checks import refuse_translator
    from whence.evaluation.scoring import paired_scores, scores
    from whence.evaluation.trained_variants import guided

    refuse_translator(context.subject, "guide needs a model that predicts classes")
    base, rows = scores(context, config), []
    for source, strength, seed, other in guided(context, config):
        columns = paired_scores(context, base, scores(other, config))
        rows += rows_from(columns, source=source, strength=strength, into=config.into, seed=seed)
    return COLUMNS.table(rows)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """How well models do under each source."""
    return source_scores(table)


def quantities(table: pd.DataFrame) -> dict[str, Interval]:
    """The quantities of a study's ledger: `score under base`, `score under adversary 0.2` and so on,
    in points; `share under` is the same as a fraction of one.
    """
    return numbers(table)


def figure(table: pd.DataFrame) -> Figure:
    """What each other source loses compared with this model's attention; without it, how well each does."""
    return intervals(effects(table) or levels(table))


def verdict(table: pd.DataFrame) -> Verdict:
    """Whether another model can use the attention: decided by uniform attention in its place."""
    found = effects(table)
    answer, sentence = decide(found, table)
    return Verdict(
        question=1,
        answer=answer,
        sentence=sentence,
        effects=tuple(found),
        procedure="The attention that this model gives to each text was imposed on other models, in training and at"
        " inference, and other weights in its place.",
        means="Where this attention serves another model better than uniform attention, it carries information about"
        " the task that is not this model's alone.",
        does_not_mean="Attention that helps need not be the only one (question 5) and need not be why this model"
        " predicts as it does (question 3).",
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
    shards=RowOrder(blocks=("source", "strength", "seed")),
)
