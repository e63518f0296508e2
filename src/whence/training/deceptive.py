"""Training a model to hide which words decide, or to show them. Pruthi et al. 2020, §3.

    loss = cross-entropy − λ log(1 − Σ_{i decides} α_i)          (Eq. 1: the attention is to be elsewhere)
    loss = cross-entropy − λ log Σ_{i decides} α_i               (its opposite: the attention is to be there)

Differs from the paper: the words that decide are those of the rationales, not a list of words; and the best epoch is
that of the smallest loss on dev, not of the highest accuracy.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from whence.core.attending import attending
from whence.data.examples import Example
from whence.subject.batch import Batch
from whence.subject.metrics import Rules
from whence.subject.subject import Subject
from whence.training.fit import Objective, loss_of

LEAST = 1e-6  # of the weight, where its logarithm is taken


class DeceptiveObjective(Objective):
    """Predict the labels, with the attention of a pooling site off the words that decide, or on them (`hide` False)."""

    def __init__(self, examples: Sequence[Example], strength: float = 1.0, hide: bool = True) -> None:
        self.examples, self.strength, self.hide = examples, strength, hide

    def loss(self, subject: Subject, batch: Batch) -> Float[Tensor, ""]:
        """Of a batch of the examples that are trained on."""
        return self.of(subject, batch, self.examples)

    def of(self, subject: Subject, batch: Batch, examples: Sequence[Example]) -> Float[Tensor, ""]:
        """Of a batch of these examples."""
        with attending(subject.model) as tape:
            loss = loss_of(subject, batch)
        (weights,) = (call.weights[:, :, 0].mean(1) for call in tape.calls())  # [batch token]: one site, one query
        there = (weights * deciding_tokens(batch, examples).to(weights.device)).sum(-1)  # [batch]
        wanted = 1 - there if self.hide else there
        return loss - self.strength * wanted.clamp_min(LEAST).log().mean()

    def score(self, subject: Subject, dev: Sequence[Example], batch_size: int, override: Rules | None) -> float:
        """Minus the mean loss, each example counting alike."""
        with torch.no_grad():
            total = sum(len(batch) * float(self.of(subject, batch, dev)) for batch in subject.batches(dev, batch_size))
        return -total / len(dev)


def deciding_tokens(batch: Batch, examples: Sequence[Example]) -> Bool[Tensor, "batch token"]:
    """The tokens of words that decide, by the examples' rationales."""
    found = torch.zeros_like(batch.special)
    for row, number in enumerate(batch.examples.tolist()):
        marks = torch.tensor(examples[number].deciding or (False,))
        mine = ~batch.special[row] & (batch.segment[row] == 0) & (batch.word[row] >= 0)
        found[row, mine] = marks[batch.word[row, mine].clamp_max(len(marks) - 1)]
    return found
