"""Head importance: how the prediction changes when a head's attention is scaled down. Michel et al. 2019, Eq. 2.

    I_h = |∂y/∂ξ_h| at ξ_h = 1, where ξ_h multiplies the weights of head h

A head's context is linear in its weights, so that this is |Σ_ij α_h(i, j) · ∂y/∂α_h(i, j)|: one backward pass for all
heads. The sum is taken during that pass, in which attention is computed again: the weights of one layer are held at a
time, and of one head where a model's heads can be computed one after another.

Differs from the paper: y is what is explained of one text, not the loss over a corpus; a head's share is of the sum
over all heads, where theirs are set to length one within each layer.
"""

from dataclasses import dataclass
from inspect import signature
from typing import Any

import torch
from torch import Tensor

from whence.core.attending import attending
from whence.core.site import Call, Kind, Site
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target

SHOWN = 5  # heads that are named


@dataclass(frozen=True)
class HeadImportance:
    """A head, counted from 0 in its layer: the effect of its weights on the prediction, and its share of the sum."""

    site: str
    layer: int
    kind: Kind
    head: int
    effect: float
    share: float


def head_importance(subject: Subject, batch: Batch, target: Target) -> tuple[HeadImportance, ...]:
    """Every head of the model, the most important first; empty if the model has fewer than two heads."""
    if not subject.sites:
        return ()
    factors = HeadFactors()
    slow = torch.backends.cudnn.flags(enabled=False)  # cuDNN LSTMs have no gradient in eval mode
    no_cache = {"use_cache": False} if "use_cache" in signature(subject.model.forward).parameters else {}
    with slow, torch.enable_grad(), attending(subject.model, override=factors, watch=None, recompute=True):
        explained = target.of(subject.task.positioned(subject.model(**batch.inputs, **no_cache).logits))
        given = list(factors.of_sites.values())
        gradients = torch.autograd.grad(explained.sum(), given, allow_unused=True) if given else ()
    effects: dict[tuple[str, int, Kind, int], float] = {}
    for site, gradient in zip(factors.of_sites, gradients, strict=True):
        for head in range(len(factors.of_sites[site])):
            effect = 0.0 if gradient is None else float(gradient[head])
            effects[site.name, site.layer, site.kind, head] = effect
    if len(effects) < 2:
        return ()
    total = sum(map(abs, effects.values())) or 1.0
    found = [HeadImportance(*place, effect, abs(effect) / total) for place, effect in effects.items()]
    return tuple(sorted(found, key=lambda one: -one.share))


class HeadFactors:
    """An override that multiplies each head's weights by ξ_h = 1, so that the gradient by ξ can be asked for."""

    trusted = True  # the weights are those that came
    streams_heads = True

    def __init__(self) -> None:
        self.of_sites: dict[Site, Tensor] = {}  # ξ of each site's heads; a site may be called once a step

    def __call__(self, call: Call) -> Tensor:
        if call.site not in self.of_sites:
            ones = torch.ones(call.n_heads, dtype=torch.float64, device=call.weights.device)
            self.of_sites[call.site] = ones.requires_grad_()
        return Multiplied.apply(call.weights, self.of_sites[call.site], call.heads)


class Multiplied(torch.autograd.Function):
    """Weights times ones, without computing that; the gradient by the ones is summed in double precision."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, factors: Tensor, heads: tuple[int, ...]) -> Tensor:
        ctx.save_for_backward(weights)
        ctx.heads, ctx.n_heads = heads, len(factors)
        return weights.view_as(weights)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        (weights,) = ctx.saved_tensors
        effects = torch.zeros(ctx.n_heads, dtype=torch.float64, device=gradient.device)
        for place, head in enumerate(ctx.heads):  # one at a time, since a product is as large as the weights
            effects[head] = (weights[:, place] * gradient[:, place]).sum(dtype=torch.float64)
        return gradient, effects, None


def describe_heads(heads: tuple[HeadImportance, ...]) -> str:
    """The most important heads and the share of each layer, in two lines; empty where there are no heads."""
    if not heads:
        return ""
    by_layer: dict[str, float] = {}
    for one in sorted(heads, key=lambda one: one.layer):
        by_layer[_layer_name(one, heads)] = by_layer.get(_layer_name(one, heads), 0.0) + one.share
    first = ", ".join(f"{_layer_name(one, heads)} head {one.head} ({one.share:.0%})" for one in heads[:SHOWN])
    layers = ", ".join(f"{name} {share:.0%}" for name, share in by_layer.items())
    even = f"of {len(heads)}; {1 / len(heads):.1%} each if all were equal; counted from 0"
    return f"most important heads ({even}): {first}\nlayers: {layers}"


def _layer_name(one: HeadImportance, heads: tuple[HeadImportance, ...]) -> str:
    """The layer of a head, with the kind of attention where the model has several."""
    kind = f" ({one.kind})" if len({other.kind for other in heads}) > 1 else ""
    return f"layer {one.layer}{kind}"
