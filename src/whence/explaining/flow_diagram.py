"""A trace of attention as plain numbers to be drawn: what `lat` followed, for one text (Wu et al. 2020, Fig. 3)."""

import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

from whence.attribution.normalize import normalized, refuse_normalize
from whence.core.errors import BadConfig
from whence.explainers.lat import traced
from whence.figures.flow.model import Flow
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target


def diagram(
    subject: Subject, batch: Batch, target: Target, answer: str, normalize: str = "softmax_sum", row: int | str = "auto"
) -> Flow:
    """The flow of the batch's first text, all its tokens, special ones too: attention goes through them."""
    refuse_normalize(normalize)
    trace = traced(subject, batch, row, target)
    if not trace.layers:
        raise BadConfig("a flow diagram needs layers of self-attention, and this model has none; see raw_attention")
    heads = trace.heads.shape[1]
    scores = normalized(trace.raw, trace.attended, normalize, heads)
    levels = torch.cat([trace.accumulated[:, 0], trace.start[:1, None].expand(1, heads, -1)])  # [level head token]
    here = batch.mask[0].nonzero()[:, 0].numpy()  # [token], no padding
    return Flow(
        tuple(batch.tokens[0][token] for token in here),
        _numbers(scores[0])[here],
        _numbers(levels)[..., here],
        _numbers(trace.weights[:, 0])[..., here, :][..., here],
        _numbers(trace.start[0])[here],
        f"lat, from: {trace.row}, normalize: {normalize}",
        answer,
    )


def _numbers(values: Tensor) -> Float[ndarray, "..."]:
    return values.detach().double().cpu().numpy()
