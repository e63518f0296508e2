"""Attention × gradient: how the answer moves as a weight grows, times the weight. Serrano & Smith 2019, §4.

    Σ_h Σ_i α_h(i, j) · ∂y/∂α_h(i, j)

The gradient says by itself from which places i the answer is read, and has a sign, which weights alone have not.

Differs from the papers: Serrano & Smith have one query and rank by the gradient alone, or by the product; Chefer
et al. 2021 keep what is above zero, take the mean over the heads and multiply over the layers: here all heads, places
and layers are summed (`layer` chooses one), with their signs.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.core.tape import Tape
from whence.explainers._attribution import Attribution, attribution
from whence.explainers._layerwise import refuse_parts
from whence.explainers._rows import readable
from whence.models.batch import Batch
from whence.models.subject import Subject
from whence.models.targets import Target

LAYERS = ("sum", "last")


def explain(subject: Subject, batch: Batch, target: Target, *, layer: int | str = "sum") -> Attribution:
    """Score each token by the weights it gets times the gradient of what is explained, over all heads and queries.

    `layer`: the `sum` of all, the `last`, or a number; of a translator those are meant that look across.
    """
    names = readable(subject)
    refuse_parts(subject, names, "attention_gradient")
    chosen = _chosen(names, layer)
    tape = Tape()
    slow = torch.backends.cudnn.flags(enabled=False)  # whose LSTM has no gradient outside training
    with slow, torch.enable_grad(), subject.embedded(), attending(subject.model, watch=dict.fromkeys(chosen, tape)):
        explained = target.of(subject.logits(batch))  # [batch]
        weights = [call.weights for call in tape.calls()]
        gradients = torch.autograd.grad(explained.sum(), weights, allow_unused=True)
    scores = torch.zeros(batch.by_window().special.shape, device=explained.device, dtype=torch.float64)
    for call, gradient in zip(tape.calls(), gradients, strict=True):
        if gradient is not None:
            scores += _of_keys((call.weights * gradient).detach(), call.sinks, scores.shape[1], call.site.name)
    how = f"of the {target.measure}; layer: {layer if len(names) > 1 else 'the only one'}, all heads and queries"
    return attribution(scores, batch, "attention_gradient", how, signed=True)


def _chosen(names: list[str], layer: int | str) -> list[str]:
    if isinstance(layer, str):
        if layer not in LAYERS:
            raise BadConfig(f"no layer {layer!r}; there are: {', '.join(LAYERS)}, or a number")
        return names if layer == "sum" else names[-1:]
    if not -len(names) <= layer < len(names):
        raise BadConfig(f"no layer {layer}; there are {len(names)}, counted from 0")
    return [names[layer]]


def _of_keys(
    product: Float[Tensor, "batch head query key"], sinks: int, n_token: int, name: str
) -> Float[Tensor, "batch key"]:
    scores = product[..., : product.shape[-1] - sinks].double().sum((1, 2))
    if scores.shape[1] != n_token:
        raise BadConfig(
            f"the keys at {name} are not the tokens of the text ({scores.shape[1]} for {n_token}); see gradient_x_input"
        )
    return scores
