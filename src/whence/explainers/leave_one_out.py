"""Leave one out: how the answer falls when a token is taken from the text. Jain & Wallace 2019, §4.1; Li et al. 2016.

Differs from the paper: the sign is kept; they take the total variation between the two answers.
"""

from dataclasses import replace

import torch
from jaxtyping import Int
from torch import Tensor

from whence.core.errors import BadConfig
from whence.explainers._attribution import Attribution, attribution
from whence.models.batch import Batch
from whence.models.subject import Subject
from whence.models.targets import Target


@torch.no_grad()
def explain(subject: Subject, batch: Batch, target: Target) -> Attribution:
    """Score each token by y(text) − y(text without it); the tokens after it move up by one.

    Zero where there is no such text: for a text's only token, and for the word whose own tag is explained. A language
    model's answer does not depend on the tokens after it: zero too.
    """
    if batch.window is not None:
        raise BadConfig(
            "leave_one_out takes tokens from a text, and a narrative comes in windows; see gradient_x_input"
        )
    whole = target.of(subject.logits(batch))  # [batch]
    scores = torch.zeros(batch.special.shape, device=whole.device)
    for place in range(batch.special.shape[1]):
        rows, positions = _comparable(subject.task.name, batch, target, place)
        if len(rows):
            logits = subject.logits(_without(batch, place, rows))
            without = replace(target, classes=target.classes[rows], positions=positions).of(logits)
            scores[rows, place] = (whole[rows] - without).to(scores.dtype)
    return attribution(scores, batch, "leave_one_out", f"of the {target.measure}; token deleted", signed=True)


def _comparable(task: str, batch: Batch, target: Target, place: int) -> tuple[Int[Tensor, " row"], Int[Tensor, " row"]]:
    """The texts that can do without their token at this place, and where their answer then stands."""
    taken = ~batch.special[:, place] & (batch.mask.sum(1).cpu() > 1)
    positions = target.positions
    if task == "token-classification":
        taken = taken & (positions != place)
        positions = positions - (positions > place).long()
    elif task == "causal-lm":
        taken = taken & (positions >= place) & (positions > 0)
        positions = positions - 1
    rows = taken.nonzero().flatten()
    return rows, positions[rows]


def _without(batch: Batch, place: int, rows: Int[Tensor, " row"]) -> Batch:
    """These texts without one column of tokens."""
    width = batch.special.shape[1]
    left = torch.tensor([other for other in range(width) if other != place])
    changed = {}
    for name, tensor in batch.inputs.items():
        chosen = tensor[rows.to(tensor.device)]
        of_tokens = name != "labels" and chosen.dim() > 1 and chosen.shape[1] == width
        changed[name] = chosen[:, left.to(tensor.device)] if of_tokens else chosen
    return batch.with_inputs(**changed)
