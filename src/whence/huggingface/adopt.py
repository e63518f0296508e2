"""`adopt`: give every attention of a Hugging Face model a site, and prove that it is right."""

from contextlib import suppress
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

from whence.core.attending import SITE_ATTRIBUTE, attending
from whence.core.errors import CannotAdopt, CannotAttend, NoAttention
from whence.core.hooks import remove_hooks
from whence.core.replaced import restore
from whence.core.scope import undone
from whence.core.site import AttentionSite, Call, Kind
from whence.core.streaming import Summary
from whence.core.tape import Tape
from whence.huggingface.base_site import AdoptedSite
from whence.huggingface.checks import adoptable, refuse_blocks, refuse_no_inputs
from whence.huggingface.discovery import Attended, discover
from whence.huggingface.eager_site import EagerSite
from whence.huggingface.interface_site import InterfaceSite
from whence.huggingface.probe import Inputs, batch_of, difference, evaluating, natively_eager, probe_inputs, run
from whence.huggingface.unreached_site import Unreached, is_refusal

ADOPTED = "_whence_adopted"  # on a model whose every attention has a site: those sites
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-5}
HALF_TOLERANCE = 2e-2


def adopt(model: nn.Module, example: Inputs | None = None) -> PreTrainedModel:
    """Give every attention of the model a site, so that `attending` can watch and override it; returns the model.

    Sites are found and checked with one small input, generated here or given as `example` (keyword arguments of the
    model). The check: outputs equal the model's own with eager attention, every site is called, rows sum to one.
    Anything else raises. Outside `attending`, the model runs unchanged, at the same speed, and its checkpoints stay the
    same. Attention that the input does not reach has no site, and raises if it runs inside `attending`. `release`
    removes the sites.
    """
    model = adoptable(model)
    if _is_adopted(model):
        return model
    if _has_own_sites(model):
        for part in _parts_without_sites(model):
            with suppress(NoAttention):
                adopt(part)
        return model
    refuse_blocks(model)
    if example is not None:
        refuse_no_inputs(example)
    release(model)  # a part of it may have been adopted before it became a part
    with evaluating(model), undone(lambda: _release_unproven(model)):
        inputs = probe_inputs(model) if example is None else example
        log, unreached = discover(model, inputs)
        _attach(log, batch_of(inputs))
        _prove(model, inputs, log)
        _guard_unreached(log, unreached)
        model.__dict__[ADOPTED] = tuple(_sites(model))
    return model


def release(model: nn.Module) -> nn.Module:
    """Give the model back as it was before `adopt`, whatever state it is in."""
    if any(scope.open for site in _sites(model) for scope in site.attended):
        raise CannotAttend("the model is being attended; release it after the `with attending` block")
    for module in model.modules():
        if isinstance(module._modules.get(SITE_ATTRIBUTE), AdoptedSite):
            del module._modules[SITE_ATTRIBUTE]
        restore(module)
        module.__dict__.pop(ADOPTED, None)
    remove_hooks(model, is_refusal)
    return model


def _sites(model: nn.Module) -> list[AdoptedSite]:
    return [module for module in model.modules() if isinstance(module, AdoptedSite)]


def _is_adopted(model: nn.Module) -> bool:
    """Whether every site that an adoption has put into the model is still there (a part may have been released)."""
    return ADOPTED in model.__dict__ and set(model.__dict__[ADOPTED]) == set(_sites(model))


def _release_unproven(model: nn.Module) -> None:
    if ADOPTED not in model.__dict__:
        release(model)


def _attach(log: list[Attended], batch: int) -> None:
    for moment, event in enumerate(log):
        site = event.host._modules.get(SITE_ATTRIBUTE)
        if not isinstance(site, AdoptedSite):
            heads = event.shape[1] if len(event.shape) == 4 else event.shape[0] // batch
            site = EagerSite(event.host, heads) if event.route is EagerSite else event.route(event.host)
            event.host.add_module(SITE_ATTRIBUTE, site)
        site.order = (*site.order, moment)
        site.calls = len(site.order)


def _guard_unreached(log: list[Attended], unreached: dict[str, nn.Module]) -> None:
    """Make attention without a site raise if it runs inside `attending`."""
    sites = tuple(host._modules[SITE_ATTRIBUTE] for host in {event.host for event in log})
    for name, host in unreached.items():
        host.add_module(SITE_ATTRIBUTE, Unreached(host, name, sites))  # type: ignore[arg-type]


def _prove(model: PreTrainedModel, inputs: Inputs, log: list[Attended]) -> None:
    """The oracle of an adoption: equal to native eager, every site called, rows that sum to one."""
    with natively_eager(model):
        native = run(model, inputs)
    with attending(model) as tape:
        watched = run(model, inputs)
    name = type(model).__name__
    if any(bool(output.isnan().any()) for output in native):
        raise CannotAdopt(f"{name} outputs NaN even without sites: check its weights, or use another dtype (--dtype)")
    tolerance = TOLERANCE.get(native[0].dtype, HALF_TOLERANCE)
    off = difference(watched, native)
    if not off <= tolerance:
        raise CannotAdopt(
            f"{name} through its sites differs from {name} with native eager attention by {off:.2g} (allowed:"
            f" {tolerance:g}), so Whence does not understand how its attention is computed; not adopted"
        )
    calls = tape.calls()
    if len(calls) != len(log):
        raise CannotAdopt(f"{name}: {len(log)} attentions were found, but {len(calls)} were called; not adopted")
    for call in calls:
        if call.weights.shape[0] != batch_of(inputs):
            raise CannotAdopt(
                f"{name}: the weights at {call.site.name} are {list(call.weights.shape)} for a batch of"
                f" {batch_of(inputs)}; their axes are not understood; not adopted"
            )
        rows = call.weights.float().sum(-1)[call.mask.any(-1).expand(call.weights.shape[:-1])]
        if not bool(((rows - 1).abs() <= (1e-4 if tolerance < 1e-2 else 5e-2)).all()):
            raise CannotAdopt(f"{name}: the rows at {call.site.name} do not sum to one; not adopted")
    _refuse_hidden_sinks(model, tape)
    _set_kinds(model, tape)
    _allow_head_by_head(model, inputs, native, tolerance)


def _refuse_hidden_sinks(model: nn.Module, tape: Tape) -> None:
    """A sink applied to the context, after the softmax, has no column: the weights would be too large."""
    for name, calls in tape.items():
        host = _host(model, name)
        if isinstance(getattr(host, "sinks", None), nn.Parameter) and not calls[0].sinks:
            raise CannotAdopt(
                f"{type(model).__name__}: {name} attends in part to a sink, but counts it after the softmax, so that"
                " its weights do not show it; not adopted"
            )


def _set_kinds(model: nn.Module, tape: Tape) -> None:
    for name, calls in tape.items():
        host = _host(model, name)
        host._modules[SITE_ATTRIBUTE].kind = _kind(calls[0], f"{name} {type(host).__name__}".lower(), host)


def _host(model: nn.Module, site: str) -> Any:
    """The attention module of a site, by the site's name; a model that attends in its own forward is that itself."""
    path = site.partition("#")[0]
    return model if path == SITE_ATTRIBUTE else model.get_submodule(path)


def _kind(call: Call, words: str, host: nn.Module) -> Kind:
    """Cross-attention by its name or its axes, causal by its mask, as seen in the probe."""
    n_query, n_key = call.weights.shape[-2], call.weights.shape[-1] - call.sinks
    named_cross = any(word in words for word in ("cross", "encoder_attn", "encdec"))
    if named_cross or getattr(host, "is_cross_attention", False):
        return "cross"
    if n_query != n_key:
        return "pool" if n_query == 1 else "cross"
    future = torch.ones(n_query, n_key, dtype=torch.bool, device=call.weights.device).triu(1)
    seen = call.weights[..., :n_key][..., future]
    return "causal" if n_query > 1 and not bool(seen.any()) else "self"


def _allow_head_by_head(model: nn.Module, inputs: Inputs, native: list[torch.Tensor], tolerance: float) -> None:
    """Try each attention one head after another, and allow it if the output stays the same."""
    sites = [module for module in model.modules() if isinstance(module, InterfaceSite)]
    for site in sites:
        site.sliceable = True
    try:
        with attending(model, watch=Summary()):
            works = difference(run(model, inputs), native) <= tolerance
    except (RuntimeError, ValueError, IndexError, TypeError):  # a function that needs all its heads at once
        works = False
    for site in sites:
        site.sliceable = works


def _has_own_sites(model: nn.Module) -> bool:
    """Whether the model's own code has sites, as our models have."""
    return any(type(module) is AttentionSite for module in model.modules())


def _parts_without_sites(model: nn.Module) -> list[PreTrainedModel]:
    """The Hugging Face models that a model with sites of its own is built around."""
    found: list[PreTrainedModel] = []
    for child in model.children():
        if isinstance(child, PreTrainedModel) and not _has_own_sites(child):
            found.append(child)
        else:
            found += _parts_without_sites(child)
    return found
