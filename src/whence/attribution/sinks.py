"""Which tokens are sinks, and weights without them (see `whence.explainers.sinks`)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from whence.attribution.contributions import Layer, taken_apart
from whence.attribution.layerwise import refuse_parts
from whence.attribution.read_rows import asking, readable
from whence.core.errors import BadConfig
from whence.core.site import Call
from whence.subject.batch import Batch
from whence.subject.subject import Subject

LEAST = 0.3  # Gu et al.'s ε


@dataclass(frozen=True, eq=False)
class Sinks:
    """Of one layer: the mean weight of each key in each head, and the norm of what it contributes."""

    weight: Float[Tensor, "batch head key"]
    given: Float[Tensor, "batch head key"]

    def where(self, least: float = LEAST) -> Bool[Tensor, "batch head key"]:
        """The keys with much weight and a small contribution."""
        return (self.weight > least) & (self.given <= least)


def limit(least: float) -> float:
    """ε, if it is a share."""
    if not 0 < least < 1:
        raise BadConfig(f"a sink draws a mean weight above a number between 0 and 1; got {least:g}")
    return float(least)


@torch.no_grad()
def found(subject: Subject, batch: Batch, names: Sequence[str] | None = None) -> dict[str, Sinks]:
    """The weight and contribution of each key in each head, by site: of these names, else of all whose keys are the
    tokens.
    """
    chosen = readable(subject) if names is None else list(names)
    refuse_parts(subject, chosen, "sinks")
    layers: dict[str, list[Layer]] = {name: [] for name in chosen}
    rows = batch.by_window()
    taken_apart(subject, rows, chosen, False, lambda layer: layers[layer.call.site.name].append(layer))
    sites = subject.sites
    return {name: drawn_and_given(calls, asking(rows, sites[name].kind)) for name, calls in layers.items()}


def drawn_and_given(calls: list[Layer], real: Bool[Tensor, "batch query"] | None = None) -> Sinks:
    """Of one site, its calls (one a step, perhaps) taken together; of its queries those that are `real`."""
    weights = torch.cat([call.weights for call in calls], 2)  # [batch head query key]
    masks = [call.call.mask[..., : weights.shape[-1]].expand(call.weights.shape) for call in calls]
    seen_from = torch.cat(masks, 2)
    if real is not None and real.shape[1] == weights.shape[2]:
        seen_from = seen_from & real.to(weights.device)[:, None, :, None]
    asked = seen_from.sum(2)  # [batch head key]
    weight = (weights * seen_from).sum(2) / asked.clamp_min(1)
    length = calls[0].mapped.norm(dim=-1)  # [batch head key]
    seen = asked > 0
    mean = (length * seen).sum(-1, keepdim=True) / seen.sum(-1, keepdim=True).clamp_min(1)
    return Sinks(weight, weight * length / mean.clamp_min(torch.finfo(length.dtype).tiny))


def sparing(
    subject: Subject,
    batch: Batch,
    watcher: Callable[[Call], None],
    without_sinks: bool | float,
    names: Sequence[str] | None = None,
) -> tuple[Callable[[Call], None], str]:
    """A watcher that sees the weights without those on sinks, and a note about them.

    `without_sinks` is False (nothing happens), True, or another ε. The rest of a row is divided by its sum; a row that
    has nothing else keeps what it had.
    """
    sinks, note = without_them(subject, batch, without_sinks, names)
    return sparing_these(watcher, sinks), note


def sparing_these(
    watcher: Callable[[Call], None], sinks: Mapping[str, Bool[Tensor, "batch head _"]]
) -> Callable[[Call], None]:
    """A watcher that sees the weights without those on these sinks; without sinks, the watcher itself."""
    if not sinks:
        return watcher

    def watch(call: Call) -> None:
        watcher(replace(call, weights=without(call, sinks)) if call.site.name in sinks else call)

    return watch


def without_them(
    subject: Subject, batch: Batch, without_sinks: bool | float, names: Sequence[str] | None = None
) -> tuple[dict[str, Bool[Tensor, "batch head _"]], str]:
    """Where the sinks are, by site, and a sentence about them; neither, if they are not to be left out."""
    if without_sinks is False:
        return {}, ""
    least = LEAST if without_sinks is True else limit(without_sinks)
    sinks = {name: layer.where(least) for name, layer in found(subject, batch, names).items()}
    having = torch.cat([one.any(2) for one in sinks.values()], 1).float().mean() if sinks else 0.0
    return sinks, f", sinks left out ({having:.0%} of heads have one)"


def without(call: Call, sinks: Mapping[str, Bool[Tensor, "batch head _"]]) -> Float[Tensor, "batch head query key"]:
    """The weights of a call without those on its heads' sinks."""
    where = sinks[call.site.name][:, list(call.heads)]
    where = torch.nn.functional.pad(where, (0, call.sinks))
    left = call.weights.masked_fill(where[:, :, None], 0.0)
    total = left.sum(-1, keepdim=True)
    return torch.where(total > 0, left / total.clamp_min(torch.finfo(left.dtype).tiny), call.weights)
