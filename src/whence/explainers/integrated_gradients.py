"""Integrated gradients: gradient × input along the path from a baseline to the text. Sundararajan et al. 2017, Eq. 1.

    IG(x)_d = (x_d − x'_d) ∫₀¹ ∂y(x' + a(x − x'))/∂x_d da,   x' = 0 or the padding's vector

The scores of a text sum to y(x) − y(x'): completeness, exact for the integral and approximate for a sum of
steps. The difference is the convergence delta; steps are doubled until it is small, and `how` states both.

Differs from the paper: x are word vectors, as is usual for texts; special tokens too start from x'.

When not to use it: where `how` says that the delta is NOT small, scores do not add up to the prediction. Another
baseline gives other scores: try both before you conclude anything.
"""

from collections.abc import Callable

import torch
from captum.attr import IntegratedGradients
from jaxtyping import Float
from torch import Tensor

from whence.attribution.attribution import Attribution, attribution
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target

BASELINES = ("zero", "padding")
TOGETHER = 64  # texts that run at once
LEAST_CHANGE = 0.05  # of which a delta is a part: where hardly anything changes, a small part of it is nothing


def explain(
    subject: Subject,
    batch: Batch,
    target: Target,
    *,
    baseline: str = "zero",
    steps: int = 32,
    most_steps: int = 1024,
    small: float = 0.02,
) -> Attribution:
    """Score each token by the sum over its word vector's dimensions of integrated gradients.

    `baseline`: where the way begins, `zero` or the vector of `padding`. `steps` are doubled, up to `most_steps`, until
    the convergence delta of every text is `small`, as a part of the change y(x) − y(x'), or of 0.05 where that is less.
    """
    if baseline not in BASELINES:
        raise BadConfig(f"no baseline {baseline!r}; choose from: {', '.join(BASELINES)}")
    if not 1 <= steps <= most_steps:
        raise BadConfig(f"steps are from 1 to most_steps; got {steps} and {most_steps}")
    if small <= 0:
        raise BadConfig(f"a delta is small as a part of the change, above 0; got {small:g}")
    slow = torch.backends.cudnn.flags(enabled=False)  # cuDNN LSTMs have no gradient in eval mode
    with slow, attending(subject.model, watch=None):
        whole, begin = _vectors(subject, batch, baseline)
        scores, delta, is_small, taken = _converged(subject, batch, target, (whole, begin), (steps, most_steps), small)
    how = f"of the {target.name}; from {baseline}, {taken} steps, convergence delta at most {delta:.2g}"
    how += "" if is_small else " (NOT small: take more steps, or another baseline)"
    return attribution(scores.sum(-1), batch, "integrated_gradients", how, signed=True)


def _vectors(subject: Subject, batch: Batch, baseline: str) -> tuple[Tensor, Tensor]:
    """The word vectors of the texts [batch ... width], and where the way to them begins."""
    with torch.no_grad(), subject.embedded() as leaves:
        subject.model(**batch.inputs)
    whole = leaves[0].detach()
    begin = torch.zeros_like(whole)
    if baseline == "padding":
        pad = subject.tokenizer.pad_token_id
        if pad is None:
            raise BadConfig("this model's tokenizer has no padding token; take the baseline zero")
        blank = batch.with_inputs(input_ids=torch.full_like(batch.inputs["input_ids"], pad))
        with torch.no_grad(), subject.embedded() as leaves:
            subject.model(**blank.inputs)
        begin = leaves[0].detach()
    shape = (len(batch), -1, whole.shape[-1])
    return whole.reshape(shape), begin.reshape(shape)


def _answering(subject: Subject, batch: Batch, target: Target, shape: tuple[int, ...]) -> Callable[[Tensor], Tensor]:
    """What is explained, as a function of the word vectors of any number of copies of the batch."""

    def answer(vectors: Float[Tensor, "copies flat"]) -> Float[Tensor, " copies"]:
        copies = len(vectors) // len(batch)
        texts = batch.repeated(copies)
        aimed = target.of_rows(torch.arange(len(target.classes)).repeat(copies))
        with subject.embedded(vectors.reshape(-1, *shape)):
            return aimed.of(subject.logits(texts))

    return answer


def _converged(
    subject: Subject,
    batch: Batch,
    target: Target,
    way: tuple[Tensor, Tensor],
    steps_from_to: tuple[int, int],
    small: float,
) -> tuple[Float[Tensor, "batch token width"], float, bool, int]:
    """The integral of every text with so many steps that its delta is small, the largest delta, whether all became so,
    and the most steps that were taken. Texts that have come so far are left alone while others take more.
    """
    whole, begin = (end.flatten(1) for end in way)
    answer = _answering(subject, batch, target, way[0].shape[1:])
    with torch.no_grad():
        change = (answer(whole) - answer(begin)).abs()  # [batch]
    allowed, left, (steps, most) = small * change.clamp_min(LEAST_CHANGE), torch.arange(len(batch)), steps_from_to
    scores, deltas = torch.zeros_like(whole), torch.zeros_like(change)
    while True:
        aimed = target.of_rows(left)
        some, delta = IntegratedGradients(_answering(subject, batch.only(left), aimed, way[0].shape[1:])).attribute(
            whole[left],
            begin[left],
            n_steps=steps,
            internal_batch_size=max(TOGETHER, len(left)),
            return_convergence_delta=True,
        )
        scores[left], deltas[left] = some.detach().to(scores), delta.abs().to(deltas)
        left = left[(deltas > allowed)[left].cpu()]
        if not len(left) or steps * 2 > most:
            return scores.reshape(way[0].shape), float(deltas.max()), not len(left), steps
        steps *= 2
