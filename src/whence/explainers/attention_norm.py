"""Attention norms: the length of the vector a token contributes, not only its weight. Kobayashi et al. 2020, 2021.

    ‖Σ_h α_h(i, j) f_h(x_j)‖                          2020, §3: weights times transformed values
    ‖LN'(Σ_h α_h(i, j) f_h(x_j) + [i = j] x_i)‖       2021, §3: with the residual path and the layer norm

LN' is the linear part of the layer norm, where the norm comes after the sum; where it comes first it is within f. The
rows of each layer are divided by their sum and multiplied over the layers (`layer`), as rollout does weights.

Differs from the paper: it looks at single layers and does not multiply; `layer` chooses. Of an
encoder-decoder it is the vector that a source token contributes to the target; the target's residual path is left out.

When not to use it: lengths have no sign: it cannot tell words for a prediction from words against it. It stops before
the feed-forward layers; where these do much, take `value_zeroing`.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from whence.attribution.attribution import Attribution, attribution
from whence.attribution.contributions import Layer, deviation, linear_norm, taken_apart
from whence.attribution.layerwise import Matrices, rows_to_one, scored
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target


@torch.no_grad()
def explain(
    subject: Subject,
    batch: Batch,
    target: Target,
    *,
    residual: bool = True,
    layer_norm: bool = True,
    layer: int | str = "auto",
    row: int | str = "auto",
) -> Attribution:
    """Score each token by the length of what it gives to the row that is read.

    `residual` and `layer_norm`: whether they belong to a layer. `layer`: `rollout` (multiplied), `last`, `mean` or a
    number; `auto` multiplies where there is one stack, else takes the mean. `row`: see `raw_attention`.
    """
    met: set[str] = set()  # what belongs to some layer

    def made(names: list[str], texts: Batch) -> Matrices:
        found: dict[str, list[Tensor]] = {name: [] for name in names}

        def finished(one: Layer) -> None:
            one.norm = one.norm if layer_norm else None
            met.update(_with(one))
            found[one.call.site.name].append(rows_to_one(norms(one)))

        taken_apart(subject, texts, names, residual, finished)
        return {name: torch.cat(calls, 1) for name, calls in found.items()}

    scores, how = scored(subject, batch, target, "attention_norm", layer, row, made)
    how += "".join(f", {part}: {'yes' if part in met else 'no'}" for part in ("residual", "layer norm"))
    return attribution(scores, batch, "attention_norm", how)


def _with(layer: Layer) -> list[str]:
    """What is counted in besides weights and values: a source has no part in the target's residual path."""
    own = layer.residual is not None and layer.call.site.kind != "cross"
    return ["residual"] * own + ["layer norm"] * (layer.norm is not None)


def norms(layer: Layer) -> Float[Tensor, "batch query key"]:
    """The length of each part, without making the parts: by the inner products of the heads' vectors at each key."""
    mapped = linear_norm(layer.norm, layer.mapped)
    products = torch.einsum("bhkw,bgkw->bkhg", mapped, mapped)  # [batch key head head]
    weights = layer.weights
    squared = torch.einsum("bhqk,bkhg,bgqk->bqk", weights, products, weights)
    if layer.residual is not None and layer.call.site.kind != "cross":
        own = torch.einsum("bhqq,bhqw->bqw", weights, mapped) + linear_norm(layer.norm, layer.residual)
        squared.diagonal(dim1=1, dim2=2).copy_((own**2).sum(-1))
    return squared.clamp_min(0).sqrt() / deviation(layer)
