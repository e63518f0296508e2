"""Can the attention be rewritten as a gate on single words?

Vashishth et al. 2019, Proposition 4.1. Where one text is read by additive attention, a word's weight is a gate σ(g(h))
on its hidden state h: a function of that state alone, up to a factor that all words share. The word is not compared
with another text. Where there is a second text (a question), the weight is σ(g(h, q)), which is no gate of h.

The check computes g for every hidden state separately, without other tokens, gates, divides by the sum, mixes and
decodes, and compares the result with the model's own. Where there is a second text, a gate of h alone cannot depend
on it: the gate is computed with another example's second text. The smallest effect of interest is a twentieth of the
weight.

When not to use it: for models with several layers or heads: the proposition is about one additive attention over
encoded words.
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
from whence.measures.divergence import total_variation
from whence.measures.intervals import mean_interval
from whence.results.columns import EXAMPLE, LABEL, Column, Columns, rows_from
from whence.results.experiment import UNLABELLED, Experiment
from whence.results.row_order import RowOrder
from whence.results.verdict import Answer, Effect, Verdict

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
    example=EXAMPLE,
    label=LABEL,
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
    other = partners_with_other_pair([example.pair for example in context.examples])
    for batch in context.batches():
        asked = _questions_of_others(context, batch, other)
        off, moved = gate_differences(context, batch, asked)
        columns: dict[str, Any] = {
            "example": context.numbers_of(batch),
            "label": context.labels_of(batch),
            "off": off,
            "moved": moved,
        }
        rows += rows_from(columns, second=asked is not None)
    return COLUMNS.table(rows).sort_values("example", kind="stable", ignore_index=True)


def gate_differences(context: "Context", batch: "Batch", asked: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """How far the gate's probabilities are off, and how much weight it moves: [batch] each.

    `asked` [batch width]: the vectors of the second texts that the gate is computed with, if there are any.
    """
    model = context.subject.model
    with whence.attending(model, watch="attention", keep=("values",)) as tape, _recorded_questions(model) as own:
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


def _questions_of_others(context: "Context", batch: "Batch", other: Sequence[int]) -> Any:
    """The vectors of other examples' second texts [batch width]; None if the model reads one text."""
    if context.subject.model.question is None:
        return None
    pairs = [(context.examples[i], context.examples[other[i]]) for i in batch.examples.tolist()]
    swapped = [replace(own, pair=other.pair, pair_words=other.pair_words, pair_heads=None) for own, other in pairs]
    with _recorded_questions(context.subject.model) as asked:
        context.subject.predict(context.subject.encode(swapped))
    return asked[0]


@contextmanager
def _recorded_questions(model: Any) -> Iterator[list[Any]]:
    """While open, lists the vectors of the second texts of each pass: [batch width], or None."""
    asked: list[Any] = []
    hook = model.score.register_forward_pre_hook(lambda module, args: asked.append(args[1]))
    try:
        yield asked
    finally:
        hook.remove()


def partners_with_other_pair(pairs: Sequence[str | None]) -> list[int]:
    """For every example the next one that has another second text; itself where all have the same."""
    n = len(pairs)
    found, partner = [0] * n, next((i for i in range(1, n) if pairs[i] != pairs[0]), None)
    if partner is None:
        return list(range(n))
    for i in reversed(range(n)):
        following = (i + 1) % n
        partner = following if pairs[following] != pairs[i] else partner  # of equal neighbours, the same one
        found[i] = partner
    return found


def effects(table: pd.DataFrame) -> tuple[Effect, Effect]:
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
        measured = mean_interval(table[column].to_numpy(float).round(7)[None])
        found.append(Effect.of(key, label, measured, unit, smallest, len(table)))
    return found[0], found[1]


def figure(table: pd.DataFrame) -> Figure:
    """The weight that a gate puts elsewhere, with its interval."""
    return intervals(effects(table)[:1])


def verdict(table: pd.DataFrame) -> Verdict:
    """Whether this is attention in the sense of Vashishth et al. 2019: no where it can be rewritten as a gate."""
    found = effects(table)
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
        " `faithfulness` measure that. And a word's hidden state may depend on the words around it.",
    )


def decide(table: pd.DataFrame, moved: Effect) -> tuple[Answer, str]:
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
    share = f"{moved.value:.2f} of the weight ({moved.low:.2f} to {moved.high:.2f}) goes to other words"
    swapped = "when another question is asked of the same text"
    return moved.judge(
        yes=f"This attention is no gate: {swapped}, {share}.",
        no=f"This attention is close to a gate: {swapped}, only {share}.",
        undecided=f"This attention may be close to a gate: {swapped}, {share}.",
    )


EXPERIMENT = Experiment(__doc__, Config, COLUMNS, CAPTION, run, figure, verdict, UNLABELLED, shards=RowOrder())
