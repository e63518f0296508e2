"""Sinks: in how many heads a token draws weight and gives little. Gu et al. 2025, §3; Kobayashi et al. 2020, §4.

A token is a sink of a head if its mean weight, over the queries that may see it, is at least 0.3 (Gu et al.'s ε), and
its share of what the head makes is at most half of that: its part of Σ_i ‖α(i, j) f(x_j)‖ over all tokens. [CLS],
[SEP], a first token or a full stop often are, and then attention says little about the words. The score of a token is
the share of heads whose sink it is; `found` tells each head's, layer by layer. `raw_attention`, `rollout` and `flow`
leave sinks out if they are told `without_sinks`, and say so.

Differs from the papers: Gu et al. look at the first token of decoders alone, and by its weight alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from whence.core.site import Call
from whence.explainers._attribution import Attribution, attribution
from whence.explainers._layerwise import refuse_parts
from whence.explainers._parts import Layer, taken_apart
from whence.explainers._rows import readable
from whence.models.batch import Batch
from whence.models.subject import Subject
from whence.models.targets import Target

DRAWN, GIVEN = 0.3, 0.5  # least mean weight; most that is given, as a part of the weight


@dataclass(frozen=True, eq=False)
class Sinks:
    """Of one layer: the mean weight of each key, its share of what each head makes, and whether it is a sink there."""

    weight: Float[Tensor, "batch head key"]
    share: Float[Tensor, "batch head key"]

    @property
    def where(self) -> Bool[Tensor, "batch head key"]:
        """Which keys draw weight and give little."""
        return (self.weight >= DRAWN) & (self.share <= GIVEN * self.weight)


@torch.no_grad()
def explain(subject: Subject, batch: Batch, target: Target) -> Attribution:
    """Score each token by the share of heads whose sink it is."""
    layers = found(subject, batch)
    where = torch.cat([layer.where for layer in layers.values()], 1).float()  # [batch heads key]
    having = where.any(2).float().mean()
    how = f"{having:.0%} of {where.shape[1]} heads have a sink: weight at least {DRAWN}, at most half of it given"
    return attribution(where.mean(1), batch, "sinks", how)


@torch.no_grad()
def found(subject: Subject, batch: Batch) -> dict[str, Sinks]:
    """What each key draws and gives in each head, by site."""
    names = readable(subject)
    refuse_parts(subject, names, "sinks")
    layers: dict[str, list[Layer]] = {name: [] for name in names}
    taken_apart(subject, batch.by_window(), names, False, lambda layer: layers[layer.call.site.name].append(layer))
    return {name: drawn_and_given(calls) for name, calls in layers.items()}


def drawn_and_given(calls: list[Layer]) -> Sinks:
    """Of one site, its calls (one a step, perhaps) taken together."""
    weights = torch.cat([call.weights for call in calls], 2)  # [batch head query key]
    masks = [call.call.mask[..., : weights.shape[-1]].expand(call.weights.shape) for call in calls]
    asked = torch.cat(masks, 2)
    asked = asked & asked.any(-1, keepdim=True)
    given = weights.sum(2) * calls[0].mapped.norm(dim=-1)  # [batch head key]
    share = given / given.sum(-1, keepdim=True).clamp_min(torch.finfo(given.dtype).tiny)
    return Sinks(weights.sum(2) / asked.sum(2).clamp_min(1), share)


def sparing(subject: Subject, batch: Batch, watcher: Callable[[Call], None]) -> tuple[Callable[[Call], None], str]:
    """A watcher that sees the weights without those on sinks, and a sentence about them.

    The rest of a row is divided by its sum; a row that has nothing else keeps what it had.
    """
    sinks = {name: layer.where for name, layer in found(subject, batch).items()}
    having = torch.cat([one.any(2) for one in sinks.values()], 1).float().mean()

    def watch(call: Call) -> None:
        watcher(replace(call, weights=without(call, sinks)) if call.site.name in sinks else call)

    return watch, f", sinks left out ({having:.0%} of heads have one)"


def without(call: Call, sinks: Mapping[str, Bool[Tensor, "batch head key"]]) -> Float[Tensor, "batch head query key"]:
    """The weights of a call without those on its heads' sinks."""
    where = sinks[call.site.name][:, list(call.heads)]
    where = torch.nn.functional.pad(where, (0, call.sinks))
    left = call.weights.masked_fill(where[:, :, None], 0.0)
    total = left.sum(-1, keepdim=True)
    return torch.where(total > 0, left / total.clamp_min(torch.finfo(left.dtype).tiny), call.weights)
