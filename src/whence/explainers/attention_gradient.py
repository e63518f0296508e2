"""Attention × gradient: each weight times the gradient of the prediction by it, summed. Serrano & Smith 2019, §4.

    Σ_h Σ_i α_h(i, j) · ∂y/∂α_h(i, j)

The gradient shows from which positions i the prediction is read, and it has a sign, which weights lack.

Differs from the papers: Serrano & Smith have one query and rank by the gradient alone, or by the product; Chefer
et al. 2021 keep positive values, average over heads and multiply over layers; here all heads, positions
and layers are summed with their signs (`layer` chooses one layer).

When not to use it: a gradient is local. Where the decision is sure, probabilities have hardly any slope: explain the
margin (`--measure margin`, the default), and compare with `leave_one_out`.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from whence.attribution.attribution import Attribution, attribution
from whence.attribution.layerwise import refuse_parts
from whence.attribution.read_rows import readable
from whence.attribution.sinks import without, without_them
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.core.site import Call
from whence.core.tape import Tape
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target

LAYERS = ("sum", "last")


def explain(
    subject: Subject,
    batch: Batch,
    target: Target,
    *,
    layer: int | str = "sum",
    without_sinks: bool | float = False,
) -> Attribution:
    """Score each token by the weights it gets times the gradient of what is explained, over all heads and queries.

    `layer`: the `sum` of all, the `last`, or a number; of a translator those are meant that look across.
    `without_sinks`: see `sinks`; the gradient is that of the weights as they are.
    """
    names = readable(subject)
    refuse_parts(subject, names, "attention_gradient")
    chosen = _chosen(names, layer)
    sinks, spared = without_them(subject, batch, without_sinks, chosen)
    scores = torch.zeros(batch.by_window().special.shape, device=subject.device, dtype=torch.float64)
    for call, gradient in with_gradients(subject, batch, target, chosen):
        weights = without(call, sinks) if sinks else call.weights
        scores += _of_keys((weights * gradient).detach(), call.sinks, scores.shape[1], call.site.name)
    which = layer if len(names) > 1 else "the only one"
    how = f"of the {target.name}; layer: {which}, all heads and queries{spared}"
    return attribution(scores, batch, "attention_gradient", how, signed=True)


def with_gradients(subject: Subject, batch: Batch, target: Target, names: list[str]) -> list[tuple[Call, Tensor]]:
    """Every call of some sites that the prediction depends on, and ∂y/∂α there."""
    tape = Tape()
    slow = torch.backends.cudnn.flags(enabled=False)  # cuDNN LSTMs have no gradient in eval mode
    with slow, torch.enable_grad(), subject.embedded(), attending(subject.model, watch=dict.fromkeys(names, tape)):
        explained = target.of(subject.logits(batch))  # [batch]
        weights = [call.weights for call in tape.calls()]
        gradients = torch.autograd.grad(explained.sum(), weights, allow_unused=True)
    pairs = zip(tape.calls(), gradients, strict=True)
    return [(call, gradient) for call, gradient in pairs if gradient is not None]


def _chosen(names: list[str], layer: int | str) -> list[str]:
    if isinstance(layer, str):
        if layer not in LAYERS:
            raise BadConfig(f"no layer {layer!r}; choose from: {', '.join(LAYERS)}, or a number")
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
