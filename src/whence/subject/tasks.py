"""The tasks: what a model predicts, at which positions, and with which labels.

Every task has the same form, probabilities [batch position class]: a classifier predicts at one position, a tagger at
the first subword of each word, a language model at every token but the first, a translator at every target token. So
experiments do not depend on the task. Only a series has values instead of probabilities, one for each window of a
narrative, [batch window 1]; code that needs classes refuses it. An encoder without a head predicts nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class Task:
    """One task. `metric` is the name of its metric: the accuracy over positions, or the concordance of a series."""

    name: str
    metric: str
    needs: str  # the field of an example that holds its labels; empty, if nothing is predicted
    about: str

    @property
    def predicts(self) -> bool:
        """Whether the model predicts anything."""
        return bool(self.needs)

    @property
    def predicts_values(self) -> bool:
        """Whether the model predicts values and not classes."""
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
        Task("base", "", "", "hidden states alone: it has no head for predictions"),
        Task("masked-lm", "", "", "masked words, which no experiment here uses"),
    )
}


def task_names() -> Sequence[str]:
    """The names of all tasks."""
    return list(TASKS)
