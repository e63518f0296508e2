"""Can it be asked what the attention explains?

Three things can make the question empty, whatever the answer to the others; all are measured in the attention that
`raw_attention` shows, which is the row of the last layer from which the prediction is read.

- *Little free weight.* Much of the weight is on special tokens and on sinks, which bring nothing (Gu et al. 2025). The
  rest, on words, is the free weight; it is little if it is below a tenth, or if there are not two words to choose from.
- *Vectors alike.* Conicity is the mean cosine of the vectors that are attended to with their mean (Mohankumar et al.
  2020, §3.1). If they all point one way, every distribution gives the same context. They found 0.4 to 0.8 in LSTMs;
  0.95 is, on average, 18 degrees from the mean. Vectors may share a large part that nothing reads, so that counts only
  where the margin of the prediction stays too (within a tenth) when all free weight goes to the word that has least.
- *Weights not unique.* With more keys than the rank of a head's values (at most its width), other weights give exactly
  the same context (Brunner et al. 2020, §3.1). That alone is no reason for a *no*: the weights may still be on the word
  that decides. The answer is then *yes, in part*.

Heads count by how much the prediction depends on where their weight is, so heads that nothing reads change nothing.

Differs from the papers: Mohankumar et al. measure the hidden states of one LSTM, which here are the values of its
attention; of a transformer they are the values of each head. Weights must sum to one, which determines one key more
than Brunner et al.'s rank.

When not to use it: alone: a *yes* says only that the question makes sense here.
"""

from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.figure import Figure

from whence.analysis.gates import CHANCE, CORRECT, why_gated
from whence.analysis.identifiability import cannot_matter, decide, effects, not_unique, nothing_to_ask
from whence.evaluation.config import ExperimentConfig
from whence.figures import distributions
from whence.figures.style import house, panels
from whence.results.columns import Column, Columns, rows_from
from whence.results.experiment import UNLABELLED, Experiment
from whence.results.row_order import RowOrder
from whence.results.verdict import Verdict

if TYPE_CHECKING:
    from whence.evaluation.agreement import Agreement
    from whence.evaluation.context import Context
    from whence.subject.batch import Batch

CAPTION = (
    "Above: the share of the attention that is on words, on special tokens and on sinks, in each text. Below: the"
    " conicity of what is attended to; near 1 it hardly matters where the weight is."
)


class Config(ExperimentConfig):
    """Measure how much attention there is to explain something with, and whether it could be otherwise."""


COLUMNS = Columns(
    what="one row per example",
    example=Column(int, "number of the example in its split"),
    label=Column(str, "the label, where the model predicts one class per text"),
    keys=Column(int, "tokens that the row may attend to"),
    width=Column(float, "width of the vectors that a head mixes (NaN: the model does not show them)"),
    rank=Column(float, "how many weights the vectors determine in the head that counts most (NaN: not known)"),
    free_keys=Column(int, "of the keys those that are no special tokens and no sinks"),
    free_mass=Column(float, "share of the weight on free keys, heads by their importance"),
    special_mass=Column(float, "share of the weight on special tokens"),
    sink_mass=Column(float, "share of the weight on sinks: words whose vectors are short, and sinks that are no token"),
    conicity=Column(float, "mean cosine of the free keys' vectors with their mean (NaN: fewer than two, or unknown)"),
    moved=Column(float, "how far the margin moves if all free weight goes to one word, as a share of the margin"),
    correct=CORRECT,
    chance=CHANCE,
    weights=Column(str, "which attention weights were taken"),
)


def run(config: Config, context: "Context") -> pd.DataFrame:
    """The table: the measures of every example."""
    from whence.evaluation.agreement import agreement

    known = agreement(context)
    rows = [row for batch in context.batches() for row in _rows(context, batch, known)]
    return COLUMNS.table(rows).sort_values("example", kind="stable", ignore_index=True)


def _rows(context: "Context", batch: "Batch", known: "Agreement") -> list[dict[str, Any]]:
    from whence.evaluation.validity.identifiability import measured
    from whence.subject.targets import predicted

    found, how = measured(context.subject, batch, predicted(context.subject, batch, "margin"))
    named: dict[str, Any] = {"example": context.numbers_of(batch), "label": context.labels_of(batch)}
    return rows_from({**named, **found, **known.of(batch)}, weights=how)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Shares of texts and means, in one row."""
    return pd.DataFrame(
        {
            "texts": [len(table)],
            "weight on words": [table["free_mass"].mean()],
            "on special tokens": [table["special_mass"].mean()],
            "on sinks": [table["sink_mass"].mean()],
            "conicity": [table["conicity"].mean()],
            "little free weight": [nothing_to_ask(table).mean()],
            "weights cannot matter": [cannot_matter(table).mean()],
            "weights not unique": [not_unique(table).mean()],
        }
    )


def figure(table: pd.DataFrame) -> Figure:
    """Where the weight is, above the conicity."""
    masses = {"words": table["free_mass"], "special tokens": table["special_mass"], "sinks": table["sink_mass"]}
    with house():
        drawn, (above, below) = panels((1.9, 1.3))
        distributions.draw(above, masses, "share of the attention")
        distributions.draw(below, {"conicity": table["conicity"]}, "conicity", missing="unknown")
    return drawn


def verdict(table: pd.DataFrame) -> Verdict:
    """Whether there is something to ask: no only where there is hardly any weight on words, or it cannot matter."""
    found = effects(table)
    answer, sentence = decide(found, why_gated(table))
    return Verdict(
        question=2,
        answer=answer,
        sentence=sentence,
        effects=tuple(found),
        procedure=f"In the attention of {table['weights'].iloc[0]}, the weight on words was separated from that on"
        " special tokens and sinks, the vectors that are attended to were compared with their mean, and the keys of"
        " each text were counted against the rank of these vectors. Heads count by how much the prediction depends on"
        " where their weight is.",
        means="Where there is weight on words, and it matters where it is, the other questions can be asked of this"
        " attention.",
        does_not_mean="That the question can be asked does not answer it: attention may rest on words that do not"
        " decide (question 3). And attention that is not unique may still rest on the words that do.",
    )


EXPERIMENT = Experiment(
    __doc__, Config, COLUMNS, CAPTION, run, figure, verdict, UNLABELLED, summary=summary, shards=RowOrder()
)
