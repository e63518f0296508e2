"""Do the words with most attention decide the prediction?

Vashishth et al. 2019, §4.2 and Fig. 3; Serrano & Smith 2019, §4 and §5. Let i* be the input with the largest weight and
r another one, drawn at random; p the prediction, and q after one of them is removed. If attention is faithful,

    ΔJS = JS(p, q without i*) − JS(p, q without r)

is large where Δα = α(i*) − α(r) is. And if inputs are removed one after another, the largest weight first, the decision
(the class with the largest probability) must change early: after a smaller share of the inputs than in random order,
and not after a larger one than in the order of gradient × input. At most all but one are removed.

The weights are those of the explainer `raw_attention`. Of several predictions per text, the last one is used. An order
that never changes the decision counts as 1 in comparisons; texts whose decision no order changes are left out. The
smallest effects of interest: 0.01 nats, about what a prediction of probability 0.9 gives when a tenth of the
probability goes to another class; and one word in twenty.

Differs from Serrano & Smith: their code draws r as a rank and uses it as a position, so that it can hit i*. Ours is any
input but i*. Their gradients are by the attention weights; ours are by the word vectors, of the margin of the decision.
"""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field

from whence.attribution.registry import explainer
from whence.evaluation.config import ExperimentConfig
from whence.evaluation.removal_orders import removals_to_flip, single_removals, top_and_other
from whence.figures import distributions, scatter
from whence.figures.style import house, panels
from whence.measures.bootstrap import NOT_MEASURED, Interval, paired_bootstrap
from whence.results.columns import Column, Columns
from whence.results.experiment import Experiment, Needs
from whence.results.verdict import Effect, Verdict

if TYPE_CHECKING:
    from whence.evaluation.context import Context
    from whence.subject.batch import Batch

CAPTION = (
    "Above: how much further the prediction moves when the word with most attention is removed than when another is, by"
    " the difference of their weights. Below: the share of the words that must be removed until the decision changes."
)
SMALLEST, SMALLEST_SHARE = 0.01, 0.05  # nats; share of the words
FEWEST = 10  # texts that an interval needs
METHODS = {"attention": "raw_attention", "gradient": "gradient_x_input", "random": "random"}
REMOVED = {
    "attention": "Single words got no attention, and the weights of the others were renormalised",
    "zero": "Single words got no attention, and the weights of the others stayed unchanged",
    "input": "Single words were deleted from the text",
}


class Config(ExperimentConfig):
    """Remove the words with most attention, and others, and measure how the prediction changes."""

    erase: Literal["attention", "zero", "input"] = Field(
        "attention",
        description="how to remove: no attention, the rest renormalised; no attention; or delete from the text",
    )
    sites: tuple[str, ...] = Field(
        ("*",), min_length=1, description="where attention is erased, names or globs (of a translator: across)"
    )


COLUMNS = Columns(
    what="one row per example",
    example=Column(int, "number of the example in its split"),
    label=Column(str, "the label, where the model predicts one class per text"),
    position=Column(int, "which of the text's predictions was evaluated (0 if there is one)"),
    inputs=Column(int, "number of inputs: tokens that are not special and may be attended"),
    top=Column(int, "position of i*, the input with the largest weight (-1: fewer than two inputs)"),
    other=Column(int, "position of r, another input, drawn at random (-1: fewer than two inputs)"),
    delta_weight=Column(float, "Δα: the weight of i* less that of r"),
    js_top=Column(float, "JS(p, q) in nats, q being the prediction without i*"),
    js_other=Column(float, "JS(p, q) in nats, q being the prediction without r"),
    delta_js=Column(float, "ΔJS: js_top less js_other"),
    flip_attention=Column(
        float, "share of the inputs removed, most attention first, when the decision changes (else NaN)"
    ),
    flip_gradient=Column(float, "the same, largest gradient × input first"),
    flip_random=Column(float, "the same, in random order"),
    erased=Column(str, "how inputs were removed: attention, zero or input"),
    weights=Column(str, "which attention weights were taken"),
)


def run(config: Config, context: "Context") -> pd.DataFrame:
    """The table: the effect of the removals on every example."""
    rows = [row for batch in context.batches() for row in _rows(config, context, batch)]
    return COLUMNS.table(rows).sort_values("example", kind="stable", ignore_index=True)


def _rows(config: Config, context: "Context", batch: "Batch") -> list[dict[str, Any]]:
    from whence.evaluation.token_erasure import TokenErasure

    erasing = TokenErasure(context.subject, batch, config.erase, config.sites)
    options = {"random": {"seed": context.seed}}
    given = {
        order: explainer(method)(context.subject, batch, erasing.target, **options.get(order, {}))
        for order, method in METHODS.items()
    }
    weights, count = given["attention"].scores, erasing.inputs.sum(1)
    top, other = top_and_other(weights, given["random"].scores, erasing.inputs)
    js = np.where(count > 1, single_removals(erasing, np.stack([top, other])), np.nan)  # [2 batch]
    each = np.arange(len(batch))
    values: dict[str, Any] = {
        "example": context.numbers_of(batch),
        "label": context.labels_of(batch),
        "position": erasing.target.positions.numpy(),
        "inputs": count,
        "top": np.where(count > 1, top, -1),
        "other": np.where(count > 1, other, -1),
        "delta_weight": np.where(count > 1, weights[each, top] - weights[each, other], np.nan),
        "js_top": js[0],
        "js_other": js[1],
        "delta_js": js[0] - js[1],
        **{f"flip_{order}": removals_to_flip(erasing, found.scores) for order, found in given.items()},
        "erased": [config.erase] * len(batch),
        "weights": [given["attention"].how] * len(batch),
    }
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


def effects(table: pd.DataFrame, seed: int = 0) -> tuple[Effect, ...]:
    """ΔJS, and how much earlier decisions change in attention's order than in random and in gradient's order.

    Paired bootstrap intervals that hold for the three together (Bonferroni).
    """
    orders = table[[f"flip_{order}" for order in METHODS]]
    turned = orders[orders.notna().any(axis=1)].fillna(1.0)
    attention = turned["flip_attention"]
    return (
        Effect.of(
            "prediction_moved",
            "how much further the prediction moves without the word with most attention than without another",
            _interval(table["delta_js"].dropna(), seed),
            "nats",
            SMALLEST,
            int(table["delta_js"].notna().sum()),
        ),
        *(
            Effect.of(
                "flips_later",
                f"words to remove until the decision changes: {order}, less attention's order",
                _interval(turned[f"flip_{variant}"] - attention, seed),
                "of the words",
                SMALLEST_SHARE,
                len(turned),
                variant=variant,
            )
            for variant, order in (("random", "random order"), ("gradient", "gradient's order"))
        ),
    )


def _interval(values: pd.Series, seed: int) -> Interval:
    """The mean with its interval; of too few values nothing is measured."""
    if len(values) < FEWEST:
        return NOT_MEASURED
    return paired_bootstrap(values.to_numpy(float)[None], level=1 - 0.05 / 3, seed=seed)


def figure(table: pd.DataFrame) -> Figure:
    """ΔJS by Δα (Vashishth et al. 2019 Fig. 3), above the shares that must be removed (Serrano & Smith, Fig. 6)."""
    shares = {f"by {order}" if order != "random" else "at random": table[f"flip_{order}"] for order in METHODS}
    with house():
        drawn, (above, below) = panels((3.1, 1.9))
        scatter.draw(
            above,
            table,
            "delta_weight",
            "delta_js",
            "difference of attention (top − other)",
            "difference of effect (nats)",
        )
        distributions.draw(below, shares, "share of the words removed when the decision changes", missing="never")
    return drawn


def verdict(table: pd.DataFrame, seed: int = 0) -> Verdict:
    """Whether attention points at the words that decide: all three effects must say so, or one that it does not."""
    found = effects(table, seed)
    answer, sentence = decide(*found)
    never = int(table[[f"flip_{order}" for order in METHODS]].isna().all(axis=1).sum())
    rest = f" {never:,} of {len(table):,} predictions change in none of the orders." if never else ""
    erased, weights = str(table["erased"].iloc[0]), str(table["weights"].iloc[0])
    return Verdict(
        question=3,
        answer=answer,
        sentence=sentence + rest,
        effects=found,
        procedure=f"{REMOVED[erased]}: the word with most attention, or another at random; then one word after another"
        " in the order of attention, of gradients, or at random, until the predicted class changed (at most all but"
        f" one). The attention is {weights}. Predictions that change in no order are left out when orders are compared."
        " The intervals hold for the three effects together.",
        means="Where removing the words with most attention changes most, attention shows which words this prediction"
        " rests on.",
        does_not_mean="Other attention might do as well (question 5), and a text with a word removed is unlike any that"
        " the model was trained on. Words that decide only together are not found by removing one.",
    )


def decide(moved: Effect, random: Effect, gradient: Effect) -> tuple[Any, str]:
    """Yes if all three intervals are on attention's side of their limits, no if one is wholly on the other."""
    stands = (_stands(moved, SMALLEST), _stands(random, SMALLEST_SHARE), _stands(gradient, -SMALLEST_SHARE))
    top = {
        True: "moves the prediction more",
        False: "hardly moves the prediction more",
        None: "may or may not move the prediction more",
    }
    earlier = {True: "earlier", False: "hardly earlier", None: "perhaps earlier"}
    later = {True: "no later", False: "clearly later", None: "perhaps later"}
    orders = (
        f"removing words in attention's order changes predictions {earlier[stands[1]]} than removing them at random,"
        f" and {later[stands[2]]} than removing them in the order of gradients"
        if np.isfinite(random.value)
        else "too few predictions changed to compare orders"
    )
    said = f"removing the word with most attention {top[stands[0]]} than removing another; {orders}."
    if all(stands):
        return "yes", f"Attention points at words that decide: {said}"
    if False in stands:
        return "no", f"Attention does not reliably point at the words that decide: {said}"
    return "undecided", f"It is not clear whether attention points at the words that decide: {said}"


def _stands(effect: Effect, limit: float) -> bool | None:
    """Whether the whole interval is above the limit (True), below (False), or neither; None too if not measured."""
    return True if effect.low > limit else False if effect.high < limit else None


EXPERIMENT = Experiment(
    about=__doc__ or "",
    config=Config,
    columns=COLUMNS,
    caption=CAPTION,
    run=run,
    figure=figure,
    verdict=verdict,
    needs=Needs(labels=False),
)
