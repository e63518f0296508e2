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
    """

    classes: Int[Tensor, " batch"]
    positions: Int[Tensor, " batch"]
    measure: Measure = "probability"

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
        others = at.scatter(1, chosen[:, None], float("-inf")).amax(-1)
        return at[rows, chosen] - others


def predicted(subject: Subject, batch: Batch, measure: Measure = "probability") -> Target:
    """The class that the model predicts at each text's last predicted position (of a target: its last word, not the
    special tokens after it).

    Of a series it is the value of the last window, taken as a logit.
    """
    order, candidates = torch.arange(batch.predicted_positions.shape[1]), batch.predicted_positions
    if subject.task.needs == "target":
        tokenizer = subject.tokenizer
        ends = torch.tensor(sorted(set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}))
        words = candidates & ~torch.isin(batch.labels, ends)
        candidates = torch.where(words.any(1, keepdim=True), words, candidates)
    positions = (candidates * (order + 1)).argmax(1)  # the last True of each row
    if subject.task.predicts_values:
        return Target(torch.zeros(len(batch), dtype=torch.long), positions, "logit")
    probs = subject.predict(batch).cpu()
    return Target(probs[torch.arange(len(batch)), positions].argmax(-1), positions, measure)
