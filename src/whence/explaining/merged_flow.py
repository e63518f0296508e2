"""The flow of a long text: runs of its weaker tokens merged, and no layer's weights held while the model runs.

A flow of N tokens has depth · heads · N² lines, so that a diagram has room for so many tokens. The strongest stay
single, and every run of tokens between them becomes one. With m_l(h, j) what has arrived at token j of head h and level
l, the line between two runs P and Q is

    a_l(h, P, Q) = Σ_(j in P) Σ_(i in Q) m_(l+1)(h, j) α_l(h, j, i)

and its weight a_l(h, P, Q) / Σ_(j in P) m_(l+1)(h, j). So a run has exactly the sum of what arrives at its tokens, on
every level, and nothing is lost.
"""

import math
from dataclasses import dataclass, field
from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor

from whence.attribution.downwards import noting_layers
from whence.attribution.layer_stack import Followed, layered
from whence.attribution.single_layers import uncached
from whence.core.attending import attending
from whence.core.site import Call
from whence.figures.flow.model import MOST
from whence.subject.batch import Batch
from whence.subject.subject import Subject


def room(depth: int, heads: int) -> int:
    """How many tokens a diagram of these layers and heads has room for."""
    return math.isqrt(MOST // (depth * heads))


@torch.no_grad()
def arrived(subject: Subject, batch: Batch, followed: Followed) -> Float[Tensor, "level head token"]:
    """What has arrived at each token of each head, level by level (Wu et al. 2020, Eq. 8 and 10).

    Attention goes from the top down and the model from the bottom up, so that each layer runs again (`downwards`),
    watched head by head: the weights of a head are all that is held.
    """
    levels = [followed.start[0].expand(followed.heads, -1)]  # [head token]
    with noting_layers(subject, batch) as below:
        subject.model(**batch.inputs, **uncached(subject))
    for name in reversed(layered(subject)):
        levels.insert(0, below.watched(name, partial(Step, levels[0])).lower)
    return torch.stack(levels)


@dataclass
class Step:
    """A watcher that takes what has arrived above a layer, `upper`, down through it."""

    upper: Float[Tensor, "head token"]
    lower: Float[Tensor, "head token"] = field(init=False)
    streams_heads = True

    def __post_init__(self) -> None:
        self.lower = torch.zeros_like(self.upper)

    def __call__(self, call: Call) -> None:
        for place, head in enumerate(call.heads):
            self.lower[head] = self.upper[head] @ call.weights[0, place].to(self.upper)


def runs(scores: Float[Tensor, " token"], most: int) -> Int[Tensor, " token"]:
    """The run that each token belongs to, at most `most` of them: the tokens of highest score stay single."""
    single = torch.zeros(len(scores), dtype=torch.bool)
    single[scores.cpu().argsort(descending=True, stable=True)[: (most - 1) // 2]] = True
    begins = single.clone()
    begins[1:] |= single[:-1]
    begins[0] = True
    return begins.cumsum(0) - 1


@torch.no_grad()
def merged_weights(
    subject: Subject, batch: Batch, nodes: Float[Tensor, "level head token"], run: Int[Tensor, " token"], here: Tensor
) -> Float[Tensor, "depth head run run"]:
    """The weights between runs of the tokens `here`, in one pass of the model, each head reduced as it comes."""
    count = int(run.max()) + 1
    layers = layered(subject)
    found = torch.zeros(len(layers), nodes.shape[1], count, count, dtype=nodes.dtype, device=nodes.device)
    run, here = run.to(nodes.device), here.to(nodes.device)

    def reduce(call: Call) -> None:
        layer = layers.index(call.site.name)
        for place, head in enumerate(call.heads):
            weights = call.weights[0, place].to(nodes)[here][:, here]  # [query key]
            found[layer, head] = between_runs(weights, nodes[layer + 1, head, here], run)

    reduce.streams_heads = True  # type: ignore[attr-defined]
    with attending(subject.model, watch=dict.fromkeys(layers, reduce)):
        subject.model(**batch.inputs)
    return found


def between_runs(
    weights: Float[Tensor, "query key"], above: Float[Tensor, " query"], run: Int[Tensor, " query"]
) -> Float[Tensor, "run run"]:
    """The weights from runs to runs; where nothing has arrived at a run, the mean over its tokens."""
    count = int(run.max()) + 1
    whole = summed(above, run, count)  # [run]
    reached = whole[run] > 0
    share = torch.where(reached, above / whole[run].clamp_min(torch.finfo(above.dtype).tiny), 1 / run.bincount()[run])
    return summed(summed(weights * share[:, None], run, count).T, run, count).T


def summed(
    values: Float[Tensor, " token *rest"], run: Int[Tensor, " token"], count: int
) -> Float[Tensor, " count *rest"]:
    """The sum over the tokens of each run."""
    return values.new_zeros(count, *values.shape[1:]).index_add_(0, run.to(values.device), values)
