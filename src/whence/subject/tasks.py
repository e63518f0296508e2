"""The tasks: what a model answers, at which positions, and what the right answers are.

Every task is brought to one form, probabilities [batch position class]: a classifier answers at one position, a tagger
at the first piece of each word, a language model at every token but the first, a translator at every target token. So
an experiment knows nothing of tasks. A series alone has values and no probabilities, one for each window of a
narrative, [batch window 1]; what asks for classes refuses it. An encoder without a head answers nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class Task:
    """One task. `metric` is the name of the share of positions that are answered right, or of what stands in for it."""

    name: str
    metric: str
    needs: str  # what an example must have for the answers to be marked; empty, if nothing is asked
    about: str

    @property
    def answers(self) -> bool:
        """Whether it is asked anything."""
        return bool(self.needs)

    @property
    def valued(self) -> bool:
        """Whether it is answered with values and not with classes."""
        return self.needs == "values"

    def positioned(self, logits: Float[Tensor, "*copies class"]) -> Float[Tensor, "*positions class"]:
        """A model's logits with a position axis before the classes."""
        if self.name == "sequence-classification":
            return logits.unsqueeze(-2)
        return logits[..., :-1, :] if self.name == "causal-lm" else logits


TASKS = {
    task.name: task
    for task in (
        Task("sequence-classification", "accuracy", "label", "one class for a text or a pair of texts"),
        Task("token-classification", "accuracy by word", "tags", "one tag for each word"),
        Task("seq2seq", "accuracy by target token, given the target so far", "target", "a text for a text"),
        Task("causal-lm", "accuracy by next token", "text", "each token from those before it"),
        Task("series", "concordance by narrative", "values", "a value for each window of a narrative"),
        Task("base", "", "", "hidden states alone: it has no head that answers"),
        Task("masked-lm", "", "", "words in the place of masked ones, which nobody asks for here"),
    )
}


def task_names() -> Sequence[str]:
    """The names of the tasks there are."""
    return list(TASKS)
