"""Leave one out: how much the prediction falls without the token. Jain & Wallace 2019, §4.1; Li et al. 2016.

Differs from the paper: the sign is kept; they take the total variation between the two predictions.
"""

from dataclasses import replace

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from whence.attribution.attribution import Attribution, attribution
from whence.core.errors import BadConfig
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target

TOKENS, ANSWERS = 2**14, 2**25  # at most in one forward pass: tokens read, and logits given


@torch.no_grad()
def explain(subject: Subject, batch: Batch, target: Target) -> Attribution:
    """Score each token by y(text) − y(text without it); the tokens after it move up by one.

    Zero where there is no such text: for a text's only token, and for the word whose own tag is explained. A language
    model's prediction does not depend on the tokens after it: zero too.
    """
    if batch.window is not None:
        raise BadConfig(
            "leave_one_out takes tokens from a text, and a narrative comes in windows; see gradient_x_input"
        )
    logits = subject.logits(batch)
    whole, width = target.of(logits), batch.special.shape[1]  # [batch]
    scores = torch.zeros(batch.special.shape, device=whole.device)
    pairs = _comparable(subject.task.name, batch, target).nonzero()  # [pair 2]: which text, which place
    at_once = max(1, min(TOKENS // width, ANSWERS // logits[0].numel()))
    for some in pairs.split(at_once) if len(pairs) else ():
        rows, places = some.unbind(1)
        positions = target.positions[rows] - _moved(subject.task.name, target.positions[rows], places)
        answers = replace(target, classes=target.classes[rows], positions=positions)
        without = answers.of(subject.logits(_without(batch, rows, places)))
        scores[rows, places] = (whole[rows] - without).to(scores.dtype)
    return attribution(scores, batch, "leave_one_out", f"of the {target.measure}; token deleted", signed=True)


def _comparable(task: str, batch: Batch, target: Target) -> Bool[Tensor, "batch token"]:
    """Which tokens a text can do without."""
    place, positions = torch.arange(batch.special.shape[1]), target.positions[:, None]
    taken = ~batch.special & (batch.mask.sum(1, keepdim=True).cpu() > 1)
    if task == "token-classification":
        return taken & (positions != place)
    if task == "causal-lm":
        return taken & (positions >= place) & (positions > 0)
    return taken


def _moved(task: str, positions: Int[Tensor, " pair"], places: Int[Tensor, " pair"]) -> Int[Tensor, " pair"]:
    """By how many positions a prediction moves up when a token is removed."""
    if task == "token-classification":
        return (positions > places).long()
    return torch.ones_like(positions) if task == "causal-lm" else torch.zeros_like(positions)


def _without(batch: Batch, rows: Int[Tensor, " pair"], places: Int[Tensor, " pair"]) -> Batch:
    """Of each pair the text without the token at the place."""
    width = batch.special.shape[1]
    left = torch.arange(width - 1).expand(len(rows), -1)
    left = left + (left >= places[:, None]).long()  # [pair token-1]
    changed = {}
    for name, tensor in batch.inputs.items():
        chosen = tensor[rows.to(tensor.device)]
        of_tokens = name != "labels" and chosen.dim() > 1 and chosen.shape[1] == width
        changed[name] = chosen.gather(1, left.to(tensor.device)) if of_tokens else chosen
    return batch.with_inputs(**changed)
