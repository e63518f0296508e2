"""Head importance: how the prediction changes when a head's attention is scaled down. Michel et al. 2019, Eq. 2.

    I_h = |∂y/∂ξ_h| at ξ_h = 1, where ξ_h multiplies the weights of head h

A head's context is linear in its weights, so that this is |Σ_ij α_h(i, j) · ∂y/∂α_h(i, j)|: one backward pass for all
heads.

Differs from the paper: y is what is explained of one text, not the loss over a corpus; a head's share is of the sum
over all heads, where theirs are set to length one within each layer.
"""

from dataclasses import dataclass

import torch

from whence.core.attending import attending
from whence.core.site import Kind
from whence.core.tape import Tape
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
    tape = Tape()
    slow = torch.backends.cudnn.flags(enabled=False)  # cuDNN LSTMs have no gradient in eval mode
    with slow, torch.enable_grad(), subject.embedded(), attending(subject.model, watch=tape):
        explained = target.of(subject.logits(batch))
        calls = tape.calls()
        gradients = torch.autograd.grad(explained.sum(), [call.weights for call in calls], allow_unused=True)
    effects: dict[tuple[str, int, Kind, int], float] = {}
    for call, gradient in zip(calls, gradients, strict=True):
        changed = torch.zeros_like(call.weights) if gradient is None else call.weights * gradient
        for head, effect in enumerate(changed.detach().double().sum((0, 2, 3)).tolist()):
            place = (call.site.name, call.site.layer, call.site.kind, head)
            effects[place] = effects.get(place, 0.0) + effect  # a site may be called once a step
    if len(effects) < 2:
        return ()
    total = sum(map(abs, effects.values())) or 1.0
    found = [HeadImportance(*place, effect, abs(effect) / total) for place, effect in effects.items()]
    return tuple(sorted(found, key=lambda one: -one.share))


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
