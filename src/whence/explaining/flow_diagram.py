"""A trace of attention as plain numbers to be drawn: what `lat` followed, for one text (Wu et al. 2020, Fig. 3)."""

from dataclasses import replace

import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

from whence.attribution.layer_stack import Followed, follow, unwatched
from whence.attribution.normalize import normalized, refuse_normalize
from whence.core.errors import BadConfig
from whence.explainers.lat import Trace, traced
from whence.explaining.merged_flow import arrived, merged_weights, room, runs, summed
from whence.figures.flow.model import Flow
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target


def diagram(
    subject: Subject, batch: Batch, target: Target, answer: str, normalize: str = "softmax_sum", row: int | str = "auto"
) -> Flow:
    """The flow of the batch's first text, all its tokens, special ones too: attention goes through them.

    Of a text that is too long to be drawn runs of weaker tokens are merged (`merged_flow`), as the flow's note says.
    """
    refuse_normalize(normalize)
    followed = follow(subject, batch, target, row, "lat", unwatched, same_heads=True)
    if not followed.depth:
        raise BadConfig("a flow diagram needs layers of self-attention, and this model has none; see raw_attention")
    here = batch.mask[0].nonzero()[:, 0].to(followed.start.device)  # [token], no padding
    if len(here) > room(followed.depth, followed.heads):
        made = _merged(subject, batch, followed, normalize, here)
    else:
        made = _whole(traced(subject, batch, row, target), batch, normalize, here)
    return replace(made, method=f"lat, from: {followed.row}, normalize: {normalize}", prediction=answer)


def _whole(trace: Trace, batch: Batch, normalize: str, here: Tensor) -> Flow:
    """The flow with every token and every weight."""
    heads = trace.heads.shape[1]
    scores = normalized(trace.raw, trace.attended, normalize, heads)
    levels = torch.cat([trace.accumulated[:, 0], trace.start[:1, None].expand(1, heads, -1)])  # [level head token]
    return Flow(
        tuple(batch.tokens[0][token] for token in here.tolist()),
        _numbers(scores[0, here]),
        _numbers(levels[..., here]),
        _numbers(trace.weights[:, 0][..., here, :][..., here]),
        _numbers(trace.start[0, here]),
    )


def _merged(subject: Subject, batch: Batch, followed: Followed, normalize: str, here: Tensor) -> Flow:
    """The flow with runs of weaker tokens merged."""
    nodes = arrived(subject, batch, followed)  # [level head token]
    scores = normalized(nodes[0].sum(0)[None], followed.attended, normalize, followed.heads)[0, here]
    run = runs(scores, room(followed.depth, followed.heads))
    count = int(run.max()) + 1
    names = [[batch.tokens[0][token] for token in here[run == number].tolist()] for number in range(count)]
    single = sum(len(name) == 1 for name in names)
    note = (
        f"The text has {len(here)} tokens, too many to draw each: {single} are drawn singly, among them those of"
        f" highest score; the others are merged into {count - single} runs, with the number of their tokens in"
        " brackets. What arrives at a run, and its score, is the sum over its tokens."
    )
    return Flow(
        tuple(name[0] if len(name) == 1 else f"({len(name)}) {' '.join(name)}" for name in names),
        _numbers(summed(scores, run, count)),
        _numbers(summed(nodes[..., here].movedim(-1, 0), run, count).movedim(0, -1)),
        _numbers(merged_weights(subject, batch, nodes, run, here)).clip(max=1.0),
        _numbers(summed(followed.start[0, here], run, count)),
        note=note,
    )


def _numbers(values: Tensor) -> Float[ndarray, "..."]:
    return values.detach().double().cpu().numpy()
