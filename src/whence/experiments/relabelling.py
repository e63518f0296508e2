"""Do an explainer's scores depend on how the heads are numbered?

The heads of a layer have no order of their own: move the rows of the query, key and value projections and the columns
of the output projection head by head, in each layer independently, and the model computes the same function. Layer-wise
attention tracing (Wu et al. 2020) multiplies head h of one layer with head h of the next, so that its scores change; an
explainer whose scores change is not determined by what the model does.

The check renumbers the heads of every layer at random, independently in each layer, and explains again. The model
is unchanged; the explainer sees its heads in another order. Query heads that share a key head stay together, and
a layer that is shared over depth has one order. Scores are compared over the tokens of a text that are not special:
Kendall's τ-b, and the share of the score that goes to other tokens. Scores that agree in six digits count as equal. The
smallest effect of interest is a twentieth of τ.

When not to use it: for models of one head per layer, where there is nothing to renumber.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from matplotlib.figure import Figure
from numpy import ndarray
from pydantic import Field

import whence
from whence.attribution.registry import explainer
from whence.core.errors import BadConfig
from whence.evaluation.config import ExperimentConfig
from whence.figures.intervals import intervals
from whence.measures.divergence import total_variation
from whence.measures.intervals import NOT_MEASURED, level_for, mean_interval
from whence.measures.ranking import kendall_tau
from whence.results.columns import EXAMPLE, LABEL, Column, Columns, rows_from
from whence.results.experiment import UNLABELLED, Experiment
from whence.results.row_order import RowOrder
from whence.results.verdict import Answer, Effect, Verdict

if TYPE_CHECKING:
    from whence.evaluation.context import Context
    from whence.subject.batch import Batch
    from whence.subject.subject import Subject

CAPTION = "How much the order of a text's tokens changes when heads get other numbers and the model stays the same."
SMALLEST = 0.05  # of Kendall's tau
DIGITS = 6
OPTIONS = {"lat": {"normalize": "l1"}, "lat_mixed": {"normalize": "l1"}}  # a softmax would hide most of the change


class Config(ExperimentConfig):
    """Give the heads of every layer other numbers, and measure whether the scores of tokens change."""

    methods: tuple[str, ...] = Field(
        ("lat", "lat_mixed", "rollout"), min_length=1, description="explainers to check (`whence list`)"
    )
    draws: int = Field(5, gt=0, description="how often the heads are renumbered")


COLUMNS = Columns(
    what="one row per example and explainer",
    example=EXAMPLE,
    label=LABEL,
    method=Column(str, "the explainer"),
    how=Column(str, "its options"),
    tokens=Column(int, "number of tokens that are scored: those that are not special"),
    tau=Column(float, "Kendall's τ-b between the scores before and after, mean of the draws (NaN: no order)"),
    moved=Column(float, "share of the score that goes to other tokens (½ Σ |a − b|), mean of the draws"),
)


def run(config: Config, context: "Context") -> pd.DataFrame:
    """The table: for every example how much each explainer changes."""
    heads = heads_of(context.subject, context.first_batch())
    groups = getattr(context.subject.model.config, "num_key_value_heads", None)
    generator = np.random.default_rng(context.seed)
    drawn = [orders(heads, groups, generator) for _ in range(config.draws)]
    rows = [row for batch in context.batches() for row in _rows(config, context, batch, drawn)]
    return COLUMNS.table(rows).sort_values(["example", "method"], kind="stable", ignore_index=True)


def heads_of(subject: "Subject", batch: "Batch") -> dict[str, int]:
    """How many heads each site has; an error where other numbers would make another model, or where none has two."""
    config = subject.model.config
    if getattr(config, "alibi", False) or config.model_type in ("bloom", "mpt"):
        raise BadConfig(
            f"the heads of {subject.name} differ by fixed slopes (ALiBi): with other numbers it would be"
            " another model, so they cannot be renumbered"
        )
    watcher = whence.Summary()
    with whence.attending(subject.model, watch=watcher):
        subject.predict(batch)
    heads = {site: calls[0].shape[1] for site, calls in watcher.maximum.items() if calls[0].shape[1] > 1}
    if not heads:
        raise BadConfig(f"{subject.name} has one head at each site ({', '.join(subject.sites)}): nothing to renumber")
    return heads


def orders(heads: Mapping[str, int], groups: int | None, generator: np.random.Generator) -> dict[str, list[int]]:
    """New numbers for the heads of every site; groups of heads stay together, and so do calls of one shared layer."""
    from whence.core.site import module_path

    drawn: dict[str, list[int]] = {}
    for site, n in heads.items():
        layer = module_path(site)
        parts = groups if groups and n % groups == 0 else n
        if layer not in drawn:
            within = generator.permuted(np.arange(n).reshape(parts, -1), axis=1)
            drawn[layer] = generator.permutation(within).flatten().tolist()
    return {site: drawn[module_path(site)] for site in heads}


def _rows(
    config: Config, context: "Context", batch: "Batch", drawn: Sequence[Mapping[str, Sequence[int]]]
) -> list[dict[str, Any]]:
    from whence.core.head_order import relabelled
    from whence.subject.targets import predicted

    rows, target = [], predicted(context.subject, batch)
    for method in config.methods:
        explain, options = explainer(method), OPTIONS.get(method.replace("-", "_"), {})
        before = explain(context.subject, batch, target, **options)
        changes = []
        for order in drawn:
            with relabelled(context.subject.model, order):
                after = explain(context.subject, batch, target, **options)
            changes.append([change(_scores(before, row), _scores(after, row)) for row in range(len(batch))])
        tau, moved = np.mean(changes, axis=0).T  # [batch]
        columns = {
            "example": context.numbers_of(batch),
            "label": context.labels_of(batch),
            "tokens": [len(before.text(row)) for row in range(len(batch))],
            "tau": tau,
            "moved": moved,
        }
        rows += rows_from(columns, method=before.method, how=before.how)
    return rows


def _scores(found: Any, row: int) -> Float[ndarray, " token"]:
    """The scores of a text's tokens, of which the absolute values sum to one."""
    scores = np.array([score for _, score in found.text(row)], dtype=float)
    return np.round(scores / (np.abs(scores).sum() or 1.0), DIGITS)


def change(before: Float[ndarray, " token"], after: Float[ndarray, " token"]) -> tuple[float, float]:
    """τ, and how much moved, between the scores of one text."""
    return kendall_tau(before, after), float(total_variation(before, after))


def effects(table: pd.DataFrame) -> list[Effect]:
    """For every explainer 1 − τ, the largest first, with intervals that hold for all of them together (Bonferroni)."""
    known, methods, found = table[table["tau"].notna()], list(dict.fromkeys(table["method"])), []
    for method in methods:
        changed = 1 - known.loc[known["method"] == method, "tau"].to_numpy(float)
        level = level_for(len(methods))
        measured = mean_interval(changed[None], level) if len(changed) else NOT_MEASURED
        label = f"change in the order of tokens by {method}: 1 − Kendall's τ"
        found.append(Effect.of("order_changed", label, measured, "1 − τ", SMALLEST, len(changed), variant=method))
    return sorted(found, key=lambda effect: -effect.value if np.isfinite(effect.value) else np.inf)


def figure(table: pd.DataFrame) -> Figure:
    """1 − τ of every explainer, with its interval."""
    return intervals(effects(table), "1 − Kendall's τ (0: the same order, 1: unrelated)")


def verdict(table: pd.DataFrame) -> Verdict:
    """Whether the scores are determined by what the model does: no where one explainer depends on heads' numbers."""
    found = effects(table)
    answer, sentence = decide(found)
    return Verdict(
        question=2,
        answer=answer,
        sentence=sentence,
        effects=tuple(found),
        procedure="The heads of every layer were renumbered at random, in each layer separately, which leaves"
        " the model's function unchanged; then the tokens were scored again. The intervals hold for all explainers.",
        means="An explainer whose scores change under renumbering describes the numbering, which training leaves to"
        " chance, and not only the model.",
        does_not_mean="An explainer that does not change need not be right: see `faithfulness`. And one that changes"
        " may still agree with the model in part.",
    )


def decide(found: Sequence[Effect]) -> tuple[Answer, str]:
    """No if some interval is wholly above the smallest effect of interest, yes if all are below it."""
    taus = "; ".join(
        f"{effect.variant} {1 - effect.value:.2f} ({1 - effect.high:.2f} to {1 - effect.low:.2f})" for effect in found
    )
    agreement = f"Kendall's τ between the scores before and after: {taus}."
    too_few = next((effect.too_few for effect in found if effect.too_few), "")
    if too_few:
        return "undecided", too_few
    depends = [effect.variant for effect in found if effect.low > effect.smallest]
    if depends:
        return "no", f"The scores of {' and '.join(depends)} depend on how the heads happen to be numbered. {agreement}"
    if all(effect.high < effect.smallest for effect in found):
        how = "do not" if all(effect.high < 1e-6 for effect in found) else "hardly"
        return "yes", f"The scores {how} depend on how the heads are numbered. {agreement}"
    return "undecided", f"It stays open whether the scores depend on how the heads are numbered. {agreement}"


EXPERIMENT = Experiment(
    __doc__, Config, COLUMNS, CAPTION, run, figure, verdict, UNLABELLED, shards=RowOrder(("example", "method"))
)
