"""What is explained: one number for each text, computed from the model's prediction at one position."""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from whence.subject.batch import Batch
from whence.subject.subject import Subject

Measure = Literal["logit", "probability", "margin"]


@dataclass(frozen=True, eq=False)
class Target:
    """The prediction `classes` [batch] at `positions` [batch], measured as a logit, a probability, or the logit's
    margin over the best other class.

    With `against` [batch] the margin is over that class: why one and not the other (Yin & Neubig 2022). The default is
    the margin: a probability near one hardly changes whatever is removed, and a logit alone does not say which class
    wins.
    """

    classes: Int[Tensor, " batch"]
    positions: Int[Tensor, " batch"]
    measure: Measure = "margin"
    against: Int[Tensor, " batch"] | None = None

    @property
    def name(self) -> str:
        """What is explained, as a noun."""
        return str(self.measure) if self.against is None else "difference of two logits"

    def of(
        self, logits: Float[Tensor, "batch position class"], positions: Int[Tensor, " batch"] | None = None
    ) -> Float[Tensor, " batch"]:
        """The number that is explained, from a model's logits."""
        rows = torch.arange(len(logits), device=logits.device)
        at = logits[rows, (self.positions if positions is None else positions).to(logits.device)]  # [batch class]
        chosen = self.classes.to(logits.device)
        if self.measure == "probability":
            return at.softmax(-1)[rows, chosen]
        if self.measure == "logit":
            return at[rows, chosen]
        if self.against is not None:
            return at[rows, chosen] - at[rows, self.against.to(logits.device)]
        others = at.scatter(1, chosen[:, None], float("-inf")).amax(-1)
        return at[rows, chosen] - others

    def of_rows(self, rows: Int[Tensor, " row"], positions: Int[Tensor, " row"] | None = None) -> "Target":
        """The same for some rows of the batch, perhaps several times; with other `positions` if they moved."""
        against = None if self.against is None else self.against[rows]
        return Target(
            self.classes[rows], self.positions[rows] if positions is None else positions, self.measure, against
        )


def predicted(subject: Subject, batch: Batch, measure: Measure = "margin") -> Target:
    """The class that the model predicts at each text's last predicted position.

    Of a series it is the value of the last window, taken as a logit.
    """
    positions = last_positions(subject, batch)
    if subject.task.predicts_values:
        return Target(torch.zeros(len(batch), dtype=torch.long), positions, "logit")
    probs = subject.predict(batch).cpu()
    return Target(probs[torch.arange(len(batch)), positions].argmax(-1), positions, measure)


def last_positions(subject: Subject, batch: Batch) -> Int[Tensor, " batch"]:
    """The last predicted position of each text; of a target its last word, not the special tokens after it."""
    order, candidates = torch.arange(batch.predicted_positions.shape[1]), batch.predicted_positions
    if subject.task.needs == "target":
        tokenizer = subject.tokenizer
        ends = torch.tensor(sorted(set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}))
        words = candidates & ~torch.isin(batch.labels, ends)
        candidates = torch.where(words.any(1, keepdim=True), words, candidates)
    return (candidates * (order + 1)).argmax(1)  # the last True of each row
