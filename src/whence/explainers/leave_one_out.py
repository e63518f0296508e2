"""Leave one out: how the answer falls when a token is taken from the text. Jain & Wallace 2019, §4.1; Li et al. 2016.

Differs from the paper: the sign is kept; they take the total variation between the two answers.
"""

from typing import Any

import torch
from torch import Tensor

from whence.explainers._attribution import Attribution, attribution
from whence.models.batch import Batch
from whence.models.subject import Subject
from whence.models.targets import Target


@torch.no_grad()
def explain(subject: Subject, batch: Batch, target: Target) -> Attribution:
    """Score each token by y(text) − y(text without it); the tokens after it move up by one."""
    whole = target.of(subject.logits(batch))  # [batch]
    scores = torch.zeros(batch.special.shape, device=whole.device)
    positions = target.positions
    answered_at_tokens = batch.answers.shape[1] >= batch.special.shape[1] - 1 and "labels" not in batch.inputs
    for place in range(batch.special.shape[1]):
        taken = ~batch.special[:, place]
        if not bool(taken.any()):
            continue
        moved = (positions - (positions > place).long()) if answered_at_tokens else positions
        without = target.of(subject.logits(_without(batch, place)), moved)
        scores[:, place] = torch.where(taken.to(whole.device), whole - without, 0.0)
    if answered_at_tokens:  # the answer at a token that is gone is no answer
        scores[torch.arange(len(batch)), positions] = 0.0
    return attribution(scores, batch, "leave_one_out", f"of the {target.measure}; token deleted", signed=True)


def _without(batch: Batch, place: int) -> Batch:
    """The batch without one column of tokens."""
    width = batch.special.shape[1]

    def cut(name: str, tensor: Tensor) -> Any:
        if name == "labels" or tensor.dim() < 2 or tensor.shape[1] != width:
            return tensor
        return torch.cat([tensor[:, :place], tensor[:, place + 1 :]], dim=1)

    return batch.with_inputs(**{name: cut(name, tensor) for name, tensor in batch.inputs.items()})
