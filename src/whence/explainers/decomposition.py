"""Decomposition (ALTI): how much closer to a layer's output a token's contribution comes. Ferrando et al. 2022.

    y_i = Σ_j T_i(x_j) + biases,   c(i, j) = max(0, ‖y_i‖₁ − ‖y_i − T_i(x_j)‖₁)             Eq. 9, 10

T_i(x_j) is what token j contributes to position i: weights, values, output matrix, residual path and layer norm
(`attribution.contributions`). The rows of each layer are divided by their sum and multiplied over the layers (§3.3).

Differs from the paper: for layers that norm first, y_i is the sum of attention and residual path, before any norm. Of
an encoder-decoder it is what a source token contributes to the target, averaged over the layers; this is not ALTI+.

When not to use it: scores are never negative, so words against a prediction look like words for it. For translators it
is a mean over layers and no more than a description.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from whence.attribution.attribution import Attribution, attribution
from whence.attribution.contributions import Layer, deviation, parts, taken_apart
from whence.attribution.layerwise import Matrices, rows_to_one, scored
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target

NUMBERS = 1 << 20  # of the parts that are held at once


@torch.no_grad()
def explain(
    subject: Subject, batch: Batch, target: Target, *, layer: int | str = "auto", row: int | str = "auto"
) -> Attribution:
    """Score each token by its contribution to what is read; a text's scores sum to one, or to less where
    no token contributes anything above zero to a place that is passed.

    `layer`: `rollout` (multiplied), `last`, `mean` or a number; `auto` multiplies where there is one stack, else takes
    the mean. `row`: see `raw_attention`.
    """

    def made(names: list[str], texts: Batch) -> Matrices:
        found: dict[str, list[Tensor]] = {name: [] for name in names}
        taken_apart(
            subject, texts, names, True, lambda one: found[one.call.site.name].append(rows_to_one(contributions(one)))
        )
        return {name: torch.cat(calls, 1) for name, calls in found.items()}

    scores, how = scored(subject, batch, target, "decomposition", layer, row, made)
    return attribution(scores, batch, "decomposition", how)


def output(layer: Layer) -> Float[Tensor, "batch query width"]:
    """What the layer made, with its residual path and norm."""
    made = layer.sum()
    if layer.norm is None:
        return made
    normed = (made - made.mean(-1, keepdim=True)) / deviation(layer)
    normed = normed if layer.norm.weight is None else normed * layer.norm.weight.double()
    return normed if layer.norm.bias is None else normed + layer.norm.bias.double()


def contributions(layer: Layer) -> Float[Tensor, "batch query key"]:
    """c(i, j) of every query, some queries at a time."""
    whole = output(layer)  # [batch query width]
    batch, _, width = whole.shape
    step = max(1, NUMBERS // (batch * layer.weights.shape[-1] * width))
    found = [
        (some[:, :, None].abs().sum(-1) - (some[:, :, None] - given).abs().sum(-1)).clamp_min(0)  # [batch query key]
        for some, given in zip(whole.split(step, 1), parts(layer, step), strict=True)
    ]
    permitted = layer.call.mask[..., : layer.weights.shape[-1]].any(1)  # [batch #query key]
    return torch.cat(found, 1) * permitted
