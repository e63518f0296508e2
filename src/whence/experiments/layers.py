"""How much accuracy is lost as attention is shuffled in more and more layers?

Vashishth et al. 2019, §4.3 and Fig. 4. The attention weights are shuffled in no layer, in one, in two, and so on until
all: from the bottom up, or from the top down. A classifier's or a language model's layers are one group; of an
encoder–decoder the encoder's own attention, the decoder's own and the cross-attention are three, each shuffled
separately. The smallest effect of interest is two points of accuracy or BLEU, as in the ablation.

Differs from the paper: it does not say in which order layers are shuffled, nor whether [CLS] and [SEP] are; here both
orders, and special tokens keep their weight by default.

When not to use it: to tell which single layer matters: layers are shuffled cumulatively. For single heads take
`representation_erasure`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field

import whence
from whence.analysis.scores import (
    COUNTS_MEANING,
    SCORE_MEANING,
    Scores,
    describe_loss,
    loss_interval,
    metric_and_counts,
    metric_name,
    why_undecidable,
)
from whence.evaluation.config import AblationConfig
from whence.evaluation.locations import Place, matching
from whence.figures.curves import curves
from whence.measures.intervals import Interval, level_for
from whence.results.columns import EXAMPLE, LABEL, Column, Columns, rows_from
from whence.results.experiment import Experiment, streams_of_batches
from whence.results.row_order import RowOrder
from whence.results.verdict import Answer, Effect, Verdict

if TYPE_CHECKING:
    from whence.evaluation.context import Context
    from whence.subject.subject import Subject

CAPTION = (
    "The score as attention is shuffled in one layer after another. Dotted: nothing shuffled. The bands are intervals"
    " of the loss."
)
SMALLEST = 2.0  # points of accuracy
DIRECTIONS = ("bottom-up", "top-down")
GROUPS = {"self": "encoder", "causal": "decoder", "cross": "across"}  # of an encoder–decoder, by a site's kind
WHERE = {"encoder": " of the encoder", "decoder": " of the decoder", "across": " from the decoder to the encoder"}


class Config(AblationConfig):
    """Shuffle the attention of one layer after another, and measure how much accuracy is lost."""

    draws: int = Field(5, gt=0, description="how often the weights of each example are shuffled")


COLUMNS = Columns(
    what="one row per example, group of layers, direction and depth",
    example=EXAMPLE,
    label=LABEL,
    group=Column(str, "which layers: layers, or of an encoder–decoder encoder, decoder and across"),
    direction=Column(str, "bottom-up or top-down"),
    depth=Column(int, "number of layers that are shuffled"),
    layer=Column(str, "the layer that was shuffled last; empty at depth 0"),
    score=Column(float, f"{SCORE_MEANING}; mean over the draws"),
    counts=Column(str, COUNTS_MEANING),
)


def run(config: Config, context: "Context") -> pd.DataFrame:
    """The table: every example's score at every depth."""
    from whence.evaluation.scoring import scores

    rows: list[dict[str, Any]] = []
    known: dict[tuple[str, ...], Scores] = {(): scores(context, config)}  # all layers are the same ones from either end
    for group, sites in groups(context.subject, config.sites).items():
        for direction in DIRECTIONS:
            order = sites if direction == "bottom-up" else sites[::-1]
            for depth in range(len(order) + 1):
                shuffled = tuple(site for site in sites if site in order[:depth])
                if shuffled not in known:
                    place = Place(group, shuffled)
                    known[shuffled] = scores(context, config, whence.permuted, place, draws=config.draws)
                about = {"group": group, "direction": direction, "depth": depth, "layer": order[depth - 1]}
                rows += _rows(context, known[shuffled], about if depth else about | {"layer": ""})
    return COLUMNS.table(rows)


def groups(subject: "Subject", patterns: Sequence[str] = ("*",)) -> dict[str, tuple[str, ...]]:
    """The sites that match, in groups that are shuffled by themselves, each in execution order."""
    there = matching(subject.sites, patterns)
    if not subject.model.config.is_encoder_decoder:
        return {"layers": there}
    found: dict[str, tuple[str, ...]] = {}
    for name in there:
        kind = subject.sites[name].kind
        group = GROUPS.get(kind, kind)
        found[group] = (*found.get(group, ()), name)
    return found


def _rows(context: "Context", scored: Scores, about: dict[str, Any]) -> list[dict[str, Any]]:
    counts = scored.counts_as_text()
    columns = {"example": context.numbers, "label": context.labels, "score": scored.values, "counts": counts}
    return rows_from(columns, **about)


def losses(table: pd.DataFrame) -> pd.DataFrame:
    """For every group, direction and depth the score and the points lost, with an interval over examples.

    The intervals hold together for all depths that there are (Bonferroni).
    """
    steps = ["group", "direction", "depth"]
    by_step = {step: rows.sort_values("example") for step, rows in table.groupby(steps, sort=False)}
    n_steps = max(1, sum(depth != 0 for _, _, depth in by_step))
    unshuffled = next(rows for (_, _, depth), rows in by_step.items() if depth == 0)
    measure, base = metric_and_counts(unshuffled["score"], unshuffled["counts"])  # [example count]
    found = []
    for step, rows in by_step.items():
        _, left = metric_and_counts(rows["score"], rows["counts"])
        interval = loss_interval(measure, base[None], left[None], level_for(n_steps))
        found.append(
            {
                **dict(zip(steps, step, strict=True)),
                "left": float(measure(left.sum(0))),
                "lost": interval.mean,
                "low": interval.low,
                "high": interval.high,
            }
        )
    return pd.DataFrame(found)


def effects(table: pd.DataFrame) -> list[Effect]:
    """What is lost with all layers of a group shuffled, with the lowest alone, and with the topmost alone."""
    found, n, unit = [], table["example"].nunique(), f"points of {metric_name(table['counts'])} lost"
    for group, lost in losses(table).groupby("group", sort=False):
        last = int(lost["depth"].max())
        depths = {"all": ("bottom-up", last), "lowest": ("bottom-up", 1), "topmost": ("top-down", 1)}
        for variant, (direction, depth) in list(depths.items())[: 3 if last > 1 else 1]:
            row = lost[(lost["direction"] == direction) & (lost["depth"] == depth)]
            measured_ = Interval(*(float(row[column].iloc[0]) for column in ("lost", "low", "high")))
            label = f"{_which(variant, last)}{WHERE.get(str(group), '')} shuffled"
            found.append(
                Effect.of("score_lost", label, measured_, unit, SMALLEST, n, place=str(group), variant=variant)
            )
    return found


def _which(variant: str, depth: int) -> str:
    """The layers of a variant, of a group so many layers deep, in words."""
    if variant == "all":
        return "the only layer" if depth == 1 else f"all {depth} layers"
    return f"the {variant} layer"


def figure(table: pd.DataFrame) -> Figure:
    """Accuracy, F1 or BLEU by depth, from the bottom up and from the top down, a panel for each group (Vashishth et al.
    2019 Fig. 4).
    """
    lost = losses(table)
    base = float(lost.loc[lost["depth"] == 0, "left"].iloc[0])
    left = lost.assign(low=base - lost["high"], high=base - lost["low"])
    dotted = dict.fromkeys(left["group"], base)
    unit = metric_name(table["counts"])
    scale = "accuracy (%)" if unit == "accuracy" else unit
    return curves(
        left, "depth", "left", "direction", "group", "low", "high", dotted, "layers whose attention is shuffled", scale
    )


def verdict(table: pd.DataFrame) -> Verdict:
    """Whether the model needs the attention of its layers: decided by shuffling all of a group's."""
    found = effects(table)
    whole = [effect for effect in found if effect.variant == "all"]
    deciding = max(whole, key=lambda effect: effect.value)
    unshuffled = table[table["depth"] == 0].drop_duplicates("example")
    measure, base = metric_and_counts(unshuffled["score"], unshuffled["counts"])
    why_not = why_undecidable(deciding, unshuffled, "score", float(measure(base.sum(0))))
    depth = int(table.loc[table["group"] == deciding.place, "depth"].max())
    answer, sentence = decide(deciding, [effect for effect in found if effect not in whole], depth, why_not)
    return Verdict(
        question=1,
        answer=answer,
        sentence=sentence,
        effects=(deciding, *(effect for effect in found if effect is not deciding)),
        procedure="The attention weights were shuffled among the words in one layer, then in two, and so on, from the"
        " bottom up and from the top down, and the predictions were scored each time. The intervals hold for all depths"
        " together.",
        means=f"Where {metric_name(table['counts'])} falls with a layer, its output depends on where it attends.",
        does_not_mean="A layer that can be shuffled without loss may still matter: other layers may compensate. And a"
        " layer that matters need not show which words decide (question 3).",
    )


def decide(effect: Effect, single: list[Effect], depth: int, why_undecidable: str = "") -> tuple[Answer, str]:
    """Yes if the whole interval of the loss is above the smallest effect of interest, no if it is below."""
    if why_undecidable:
        return "undecided", why_undecidable
    loss = f"with {_which('all', depth)}{WHERE.get(effect.place, '')} shuffled, the model {describe_loss(effect)}"
    alone = "; ".join(
        f"with {_which(one.variant, depth)}{WHERE.get(one.place, '')} alone, {one.value:.1f}" for one in single
    )
    all_losses = f"{loss}{'; ' * bool(alone)}{alone}."
    return effect.judge(
        yes=f"The attention of the layers matters: {all_losses}",
        no=f"The attention of the layers hardly matters here: {all_losses}",
        undecided=f"The limit of {effect.smallest:g} points lies within the interval: {all_losses}",
    )


EXPERIMENT = Experiment(
    __doc__,
    Config,
    COLUMNS,
    CAPTION,
    run,
    figure,
    verdict,
    shards=RowOrder(blocks=("group", "direction", "depth")),
    cache_key=streams_of_batches,
)
