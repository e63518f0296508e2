"""Layer-wise attention tracing: the attention that reaches a token down the layers, head by head. Wu et al. 2020, §3.

    A_h(i)^(L+1) = α_i                        (8)   from the local attention α; each head starts with all of it
    A_h(i)^l = Σ_j α_h(i→j)^l A_h(j)^(l+1)    (10)  down the layers, head h of one layer to head h of the next
    A_i = Σ_h A_h(i)^1                        (11)  onto the tokens

Raw scores sum to the number of heads. Residual paths, feed-forward layers and values are left out, as in the paper.
Heads of different layers meet by their numbers alone, and a model is the same when they are renumbered: see `lat_mixed`
and the experiment `relabelling`.

Differs from the paper: a model without a local attention is read at one row, or at the mean of all (`row`), stated.

When not to use it: scores depend on how heads are numbered, which means nothing (`relabelling` measures it): for
conclusions about a model take `lat_mixed`. It leaves out residual paths, so do not use it for deep models without
checking `rollout`.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from whence.attribution.attribution import Attribution, attribution
from whence.attribution.downwards import read_down
from whence.attribution.layer_stack import follow
from whence.attribution.normalize import normalized, refuse_normalize
from whence.core.streaming import HeadProduct
from whence.core.tape import Tape
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target


@torch.no_grad()
def explain(
    subject: Subject,
    batch: Batch,
    target: Target,
    *,
    normalize: str = "softmax_sum",
    row: int | str = "auto",
    without_sinks: bool | float = False,
) -> Attribution:
    """Score each token by the attention that is traced to it, summed over the heads.

    `normalize`: `softmax_sum` (the paper's: softmax of the sums over the tokens), `softmax_mean` (of the mean over
    heads), `l1`, or `none`. `row`: see `attribution.layer_stack.follow`. `without_sinks`: see `sinks`. Of a short text
    only the product of each head's weights so far is held; of a long one each layer runs again, from the top down. So
    memory does not grow with depth, nor time with the cube of the length.
    """
    refuse_normalize(normalize)
    n_heads = getattr(subject.model.config, "num_attention_heads", None) or 1
    followed, heads, spared = read_down(
        subject, batch, target, row, "lat", HeadProduct, heads=n_heads, same_heads=True, without_sinks=without_sinks
    )
    scores = normalized(heads.sum(1), followed.attended, normalize, heads.shape[1])
    return attribution(scores, batch, "lat", f"{followed.how}, normalize: {normalize}{spared}")


@dataclass(frozen=True, eq=False)
class Trace:
    """What was traced through every layer, the lowest first: for diagrams, and for looking at single heads.

    `start` is A^(L+1), the same for every head; `accumulated` [depth batch head token] is A^l. `weights` are each
    layer's. `attended` are the tokens that can be reached. Nothing is normalized.
    """

    layers: tuple[str, ...]
    row: int | str
    start: Float[Tensor, "batch token"]
    accumulated: Float[Tensor, "depth batch head token"]
    weights: Float[Tensor, "depth batch head query key"]
    attended: Bool[Tensor, "batch token"]

    @property
    def heads(self) -> Float[Tensor, "batch head token"]:
        """What each head brings down to the tokens: A^1."""
        return self.accumulated[0] if len(self.layers) else self.start[:, None]

    @property
    def raw(self) -> Float[Tensor, "batch token"]:
        """The raw score of each token (Eq. 11); a text's sum to the number of heads."""
        return self.heads.sum(1)


def traced(subject: Subject, batch: Batch, row: int | str = "auto", target: Target | None = None) -> Trace:
    """The trace of a batch, with the weights of every layer; the target is the model's prediction if none is given."""
    tape = Tape()
    followed = follow(subject, batch, target, row, "lat", tape, same_heads=True)
    start, n_token = followed.start, followed.start.shape[1]
    layers = [tape.only(name).weights.to(start) for name in tape]  # [batch head query key]
    none = start.new_zeros(0, len(start), followed.heads, n_token, n_token)
    weights = torch.stack(layers) if layers else none
    return Trace(tuple(tape), followed.row, start, accumulated(start, weights), weights, followed.attended)


def accumulated(
    start: Float[Tensor, "batch token"], weights: Float[Tensor, "depth batch head query key"]
) -> Float[Tensor, "depth batch head token"]:
    """A^l for every layer (Eq. 8 and 10), from the top down, each head by itself."""
    score = start[:, None].expand(-1, weights.shape[2], -1)  # [batch head token]
    found = torch.empty(weights.shape[:3] + weights.shape[4:], dtype=start.dtype, device=start.device)
    for layer in reversed(range(len(weights))):
        score = found[layer] = torch.einsum("bhq,bhqk->bhk", score, weights[layer])
    return found
