"""`adopt`: give every attention of a Hugging Face model a site, and prove that it is right."""

from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

from whence.core.attending import SITE_ATTRIBUTE, attending
from whence.core.errors import CannotAdopt, CannotAttend
from whence.core.site import AttentionSite, Call, Kind
from whence.core.streaming import Summary
from whence.core.tape import Tape
from whence.models.huggingface.adopted import AdoptedSite
from whence.models.huggingface.discovery import Attended, discover
from whence.models.huggingface.eager import EagerSite
from whence.models.huggingface.interface import InterfaceSite
from whence.models.huggingface.probe import Inputs, batch_of, difference, evaluating, natively_eager, probe_inputs, run

ADOPTED = "_whence_adopted"  # marks a model whose every attention has a site
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-5}
HALF_TOLERANCE = 2e-2


def adopt(model: nn.Module, example: Inputs | None = None) -> PreTrainedModel:
    """Give every attention of the model a site, so that `attending` can watch and replace it; returns the model.

    Sites are found and checked with one small input, made up here or given as `example` (keyword arguments of the
    model). The check: outputs equal the model's own with eager attention, every site is called, rows sum to one.
    Anything else raises. Nothing is changed until somebody attends: the model runs as before, at the same speed, and
    its checkpoints stay the same. `release` takes the sites out again.
    """
    model = _plain(model)
    if ADOPTED in model.__dict__ or any(type(module) is AttentionSite for module in model.modules()):
        return model  # already, or one of our own
    release(model)  # a part of it may have been adopted before it became a part
    with evaluating(model):
        inputs = probe_inputs(model) if example is None else example
        log = discover(model, inputs)
        _attach(log, batch_of(inputs))
        try:
            _prove(model, inputs, log)
        except BaseException:
            release(model)
            raise
    model.__dict__[ADOPTED] = True
    return model


def release(model: nn.Module) -> nn.Module:
    """Give the model back as it was before `adopt`."""
    hosts = [host for host in model.modules() if isinstance(host._modules.get(SITE_ATTRIBUTE), AdoptedSite)]
    if any(host._modules[SITE_ATTRIBUTE].sessions for host in hosts):  # type: ignore[union-attr]
        raise CannotAttend("the model is being attended; release it after the `with attending` block")
    for host in hosts:
        del host._modules[SITE_ATTRIBUTE]
    for module in model.modules():
        module.__dict__.pop(ADOPTED, None)
    return model


def _attach(log: list[Attended], batch: int) -> None:
    for moment, event in enumerate(log):
        site = event.host._modules.get(SITE_ATTRIBUTE)
        if not isinstance(site, AdoptedSite):
            heads = event.shape[1] if len(event.shape) == 4 else event.shape[0] // batch
            site = EagerSite(event.host, heads) if event.route is EagerSite else event.route(event.host)
            event.host.add_module(SITE_ATTRIBUTE, site)
        site.order = (*site.order, moment)
        site.calls = len(site.order)


def _prove(model: PreTrainedModel, inputs: Inputs, log: list[Attended]) -> None:
    """The oracle of an adoption: equal to native eager, every site called, rows that sum to one."""
    with natively_eager(model):
        native = run(model, inputs)
    with attending(model) as tape:
        watched = run(model, inputs)
    name = type(model).__name__
    if any(bool(output.isnan().any()) for output in native):
        raise CannotAdopt(f"{name} answers NaN, whoever looks: look at its weights, or take another dtype (--dtype)")
    tolerance = TOLERANCE.get(native[0].dtype, HALF_TOLERANCE)
    off = difference(watched, native)
    if not off <= tolerance:
        raise CannotAdopt(
            f"{name} through its sites differs from {name} with native eager attention by {off:.2g} (allowed:"
            f" {tolerance:g}), so its attention is computed in a way that Whence does not understand; not adopted"
        )
    calls = tape.calls()
    if len(calls) != len(log):
        raise CannotAdopt(f"{name}: {len(log)} attentions were found, but {len(calls)} were called; not adopted")
    for call in calls:
        if call.weights.shape[0] != batch_of(inputs):
            raise CannotAdopt(f"{name}: the weights at {call.site.name} are {list(call.weights.shape)} for a batch of"
                              f" {batch_of(inputs)}; their axes are not understood; not adopted")  # fmt: skip
        rows = call.weights.float().sum(-1)[call.mask.any(-1).expand(call.weights.shape[:-1])]
        if not bool(((rows - 1).abs() <= (1e-4 if tolerance < 1e-2 else 5e-2)).all()):
            raise CannotAdopt(f"{name}: the rows at {call.site.name} do not sum to one; not adopted")
    _tell_kinds(model, tape)
    _try_head_by_head(model, inputs, native, tolerance)


def _tell_kinds(model: nn.Module, tape: Tape) -> None:
    modules: dict[str, Any] = dict(model.named_modules())
    for name, calls in tape.items():
        host = modules[name.partition("#")[0]]
        host._modules[SITE_ATTRIBUTE].kind = _kind(calls[0], f"{name} {type(host).__name__}".lower(), host)


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


def _try_head_by_head(model: nn.Module, inputs: Inputs, native: list[torch.Tensor], tolerance: float) -> None:
    """Whether each attention can be computed one head after another: it is tried, and kept if nothing changes."""
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


def _plain(model: nn.Module) -> PreTrainedModel:
    """The model, if it is one that can be adopted at all."""
    if hasattr(model, "_orig_mod"):
        raise CannotAdopt("this model is compiled by torch.compile; adopt the model as it was before compiling")
    if not isinstance(model, PreTrainedModel):
        raise CannotAdopt(
            f"adopt takes a Hugging Face model (a transformers.PreTrainedModel); this is a {type(model).__name__}. In a"
            " model of your own, put a whence.AttentionSite where scores become weights."
        )
    return model
