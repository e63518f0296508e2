"""Can the attention be rewritten as a gate on single words?

Vashishth et al. 2019, Proposition 4.1. Where one text is read by additive attention, a word's weight is a gate σ(g(h))
on its hidden state h: a function of that state alone, but for a factor that all words share. The word is not compared
with another text. Where there is a second text (a question), the weight is σ(g(h, q)), which is no gate of h.

The check computes g for every hidden state by itself, no other token being present, gates, divides by the sum, mixes
and decodes, and compares the result with the model's own. Where there is a second text, a gate of h alone cannot depend
on it: the gate is computed with another example's second text. The smallest effect of interest is a twentieth of the
weight.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import whence
from whence.core.errors import BadConfig
from whence.evaluation.config import ExperimentConfig
from whence.figures.intervals import intervals
from whence.measures.bootstrap import paired_bootstrap
from whence.measures.divergence import total_variation
from whence.results.columns import Column, Columns
from whence.results.experiment import Experiment, Needs
from whence.results.verdict import Effect, Verdict

if TYPE_CHECKING:
    from whence.evaluation.context import Context
    from whence.subject.batch import Batch

CAPTION = "How much of the attention moves when it is computed as a gate, one word at a time. Zero: it is a gate."
SMALLEST = 0.05  # of the weight
ROUNDING = 1e-5  # of the probability


class Config(ExperimentConfig):
    """Rewrite the attention as a gate on single words, and measure whether anything changes."""


COLUMNS = Columns(
    what="one row per example",
    example=Column(int, "number of the example in its split"),
    label=Column(str, "the label, where the model predicts one class per text"),
    second=Column(bool, "whether there is a second text"),
    off=Column(float, "largest difference of a class's probability between the model and its rewriting as a gate"),
    moved=Column(float, "total variation between the model's weights and those of the gate (½ Σ |α − α'|)"),
)


def run(config: Config, context: "Context") -> pd.DataFrame:
    """The table: the distance between gate and attention of every example."""
    model = context.subject.model
    if model.config.model_type != "whence-additive":
        raise BadConfig(
            f"{context.subject.name} ({type(model).__name__}) does not weigh words one by one: in self-attention and in"
            " translation a weight also depends on the query word, which Proposition 4.1 does not cover."
            " Expected the model `additive` (whence train additive); see `layers` for others"
        )
    rows: list[dict[str, Any]] = []
    other = others([example.pair for example in context.examples])
    for batch in context.batches():
        asked = _asked_by_others(context, batch, other)
        off, moved = rewritten(context, batch, asked)
        for number, label, far, shifted in zip(
            context.numbers_of(batch), context.labels_of(batch), off, moved, strict=True
        ):
            rows.append({"example": number, "label": label, "second": asked is not None, "off": far, "moved": shifted})
    return COLUMNS.table(rows).sort_values("example", kind="stable", ignore_index=True)


def rewritten(context: "Context", batch: "Batch", asked: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Off and moved of a batch [batch], the gate being computed with what is asked [batch width], if anything is."""
    model = context.subject.model
    with whence.attending(model, watch="attention", keep=("values",)) as tape, _heard(model) as own:
        probs = context.subject.predict(batch)[:, 0]  # [batch class]
    call = tape.only("attention")
    assert call.values is not None
    hidden = call.values[:, 0].detach()  # [batch token width]
    n_token = hidden.shape[1]
    question = None if asked is None else asked.repeat_interleave(n_token, dim=0)  # [batch·token width]
    gates = model.score(hidden.flatten(0, 1)[:, None], question).detach().view(-1, n_token)  # each state by itself
    attended = call.mask[:, 0, 0]
    gates = (gates - gates.masked_fill(~attended, float("-inf")).amax(1, keepdim=True)).exp() * attended
    weights = gates / gates.sum(1, keepdim=True)  # [batch token]
    read = (weights[..., None] * hidden).sum(1)  # [batch width]
    again = model.decoder(read, own[0]).detach().softmax(-1)
    moved = total_variation(weights, call.weights[:, 0, 0])
    return (again - probs).abs().amax(-1).cpu().numpy(), moved.cpu().numpy()


def _asked_by_others(context: "Context", batch: "Batch", other: Sequence[int]) -> Any:
    """What other examples' second texts ask of these first texts [batch width]; None where no second text asks."""
    if context.subject.model.question is None:
        return None
    pairs = [(context.examples[i], context.examples[other[i]]) for i in batch.examples.tolist()]
    swapped = [replace(own, pair=other.pair, pair_words=other.pair_words, pair_heads=None) for own, other in pairs]
    with _heard(context.subject.model) as asked:
        context.subject.predict(context.subject.encode(swapped))
    return asked[0]


@contextmanager
def _heard(model: Any) -> Iterator[list[Any]]:
    """While open, what the second texts of each pass ask is listed: [batch width], or None."""
    asked: list[Any] = []
    hook = model.score.register_forward_pre_hook(lambda module, args: asked.append(args[1]))
    try:
        yield asked
    finally:
        hook.remove()


def others(pairs: Sequence[str | None]) -> list[int]:
    """For every example the next one that has another second text; itself where all have the same."""
    n = len(pairs)
    nexts = [next((i + k for k in range(1, n) if pairs[(i + k) % n] != pair), i) for i, pair in enumerate(pairs)]
    return [number % n for number in nexts]


def effects(table: pd.DataFrame, seed: int = 0) -> tuple[Effect, Effect]:
    """How much of the weight a gate puts elsewhere, and how far its prediction is off."""
    found = []
    for column, key, label, unit, smallest in (
        ("moved", "weight_moved", "weight that a gate puts on other words", "of the weight (0 to 1)", SMALLEST),
        (
            "off",
            "prediction_moved",
            "how far a gate's prediction is from the model's",
            "of the probability (0 to 1)",
            ROUNDING,
        ),
    ):
        measured = paired_bootstrap(table[column].to_numpy(float).round(7)[None], seed=seed)
        found.append(Effect.of(key, label, measured, unit, smallest, len(table)))
    return found[0], found[1]


def figure(table: pd.DataFrame) -> Figure:
    """The weight that a gate puts elsewhere, with its interval."""
    return intervals(effects(table)[:1])


def verdict(table: pd.DataFrame, seed: int = 0) -> Verdict:
    """Whether this is attention in the sense of Vashishth et al. 2019: no where it can be rewritten as a gate."""
    found = effects(table, seed)
    answer, sentence = decide(table, found[0])
    return Verdict(
        question=1,
        answer=answer,
        sentence=sentence,
        effects=found,
        procedure="The weight of each word was computed from its own hidden state, with no other word present, and the"
        " prediction was made from these weights. Where there is a second text, another example's replaced it.",
        means="A gate lets a word through by what the word is. Its weight says nothing about how the word relates to"
        " another text, since there is none. Vashishth et al. 2019 expect that such weights can be replaced without"
        " much loss.",
        does_not_mean="A gate may be useful, and removing it may cost accuracy: the experiments `ablation` and"
        " `erasure` measure that. And a word's hidden state may depend on the words around it.",
    )


def decide(table: pd.DataFrame, moved: Effect) -> tuple[Any, str]:
    """No if the model is reproduced by a gate, yes if a gate puts more weight elsewhere than is too small to matter."""
    off = float(table["off"].max())
    if not table["second"].any():
        if off <= ROUNDING:
            return "no", (
                "It does not matter as attention: each word's weight is computed from that word's own state alone, so"
                f" it can be rewritten as a gate on single words, and all predictions stay the same (to {off:.0e})."
            )
        return "undecided", (
            f"Rewritten as a gate, the model should predict the same, but its predictions differ by up to {off:.2g}."
            " Run it in float32 or float64 to see whether that is rounding."
        )
    went = f"{moved.value:.2f} of the weight ({moved.low:.2f} to {moved.high:.2f}) goes to other words"
    if moved.low > moved.smallest:
        return "yes", f"This attention is no gate: when another question is asked of the same text, {went}."
    if moved.high < moved.smallest:
        return "no", f"This attention is close to a gate: when another question is asked of the same text, only {went}."
    return (
        "undecided",
        f"This attention may be close to a gate: when another question is asked of the same text, {went}.",
    )


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
