"""Leave one out: how much the prediction falls without the token. Jain & Wallace 2019, §4.1; Li et al. 2016.

One pass for each token, whose own cost is quadratic in the length of the text, would be cubic. So the tokens of a long
text are left out in `at_most` runs of neighbours, and each token gets an equal part of what its run makes.

Differs from the paper: the sign is kept; they take the total variation between the two predictions.

When not to use it: words that say the same cover for each other, and each then scores zero. A text without a word may
be unlike any that the model was trained on. In long texts scores are of runs of words.
"""

from collections.abc import Iterator

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from whence.attribution.attribution import Attribution, attribution
from whence.core.errors import BadConfig
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target

TOKENS, ANSWERS = 2**14, 2**25  # at most in one forward pass: tokens read, and logits given
AT_MOST = 128  # runs of a text


@torch.no_grad()
def explain(subject: Subject, batch: Batch, target: Target, *, at_most: int = AT_MOST) -> Attribution:
    """Score each token by y(text) − y(text without it); the tokens after it move up by one.

    Zero where there is no such text: for a text's only token, and for the word whose own tag is explained. A language
    model's prediction does not depend on the tokens after it: zero too. `at_most`: runs of neighbouring tokens that a
    text is divided into; a text of no more tokens is left out token by token.
    """
    if batch.window is not None:
        raise BadConfig(
            "leave_one_out takes tokens from a text, and a narrative comes in windows; see gradient_x_input"
        )
    if at_most < 2:
        raise BadConfig(f"a text is divided into two runs at least; at_most is {at_most}")
    logits = subject.logits(batch)
    whole, width = target.of(logits), batch.special.shape[1]  # [batch]
    scores = torch.zeros(batch.special.shape, device=whole.device)
    at_once = max(1, min(TOKENS // width, ANSWERS // logits[0].numel()))
    longest = 1
    for rows, places in _runs(_comparable(subject.task.name, batch, target), at_most, at_once):
        positions = target.positions[rows] - _moved(subject.task.name, target.positions[rows], places)
        without = target.of_rows(rows, positions).of(subject.logits(_without(batch, rows, places)))
        fall = (whole[rows] - without).to(scores.dtype) / places.shape[1]  # [run]
        scores[rows[:, None], places] = fall[:, None].expand(places.shape)
        longest = max(longest, places.shape[1])
    what = "token deleted" if longest == 1 else f"tokens deleted, up to {longest} neighbours at a time"
    return attribution(scores, batch, "leave_one_out", f"of the {target.name}; {what}", signed=True)


def _runs(
    taken: Bool[Tensor, "batch token"], at_most: int, at_once: int
) -> Iterator[tuple[Int[Tensor, " run"], Int[Tensor, "run place"]]]:
    """The runs of all texts, those of one length together: which text, and which places."""
    by_length: dict[int, list[tuple[int, Tensor]]] = {}
    for row, there in enumerate(taken):
        places = there.nonzero()[:, 0]
        for run in places.split(max(1, -(-len(places) // at_most))) if len(places) else ():
            by_length.setdefault(len(run), []).append((row, run))
    for runs in by_length.values():
        for begin in range(0, len(runs), at_once):
            rows, places = zip(*runs[begin : begin + at_once], strict=True)
            yield torch.tensor(rows), torch.stack(places)


def _comparable(task: str, batch: Batch, target: Target) -> Bool[Tensor, "batch token"]:
    """Which tokens a text can do without."""
    place, positions = torch.arange(batch.special.shape[1]), target.positions[:, None]
    taken = ~batch.special & (batch.mask.sum(1, keepdim=True).cpu() > 1)
    if task == "token-classification":
        return taken & (positions != place)
    if task == "causal-lm":
        return taken & (positions >= place) & (positions > 0)
    return taken


def _moved(task: str, positions: Int[Tensor, " run"], places: Int[Tensor, "run place"]) -> Int[Tensor, " run"]:
    """By how many positions a prediction moves up when tokens are removed."""
    if task == "token-classification":
        return (positions[:, None] > places).sum(1)
    return torch.full_like(positions, places.shape[1] if task == "causal-lm" else 0)


def _without(batch: Batch, rows: Int[Tensor, " run"], places: Int[Tensor, "run place"]) -> Batch:
    """Of each run the text without the tokens at its places."""
    width = batch.special.shape[1]
    kept = torch.ones(len(rows), width, dtype=torch.bool).scatter_(1, places, False)
    left = kept.nonzero()[:, 1].view(len(rows), -1)  # [run token]
    changed = {}
    for name, tensor in batch.inputs.items():
        chosen = tensor[rows.to(tensor.device)]
        of_tokens = name != "labels" and chosen.dim() > 1 and chosen.shape[1] == width
        changed[name] = chosen.gather(1, left.to(tensor.device)) if of_tokens else chosen
    return batch.with_inputs(**changed)
