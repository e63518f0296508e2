"""`adopt`: give every attention of a Hugging Face model a site, and prove that it is right."""

from contextlib import suppress

from torch import nn
from transformers import PreTrainedModel

from whence.core.errors import CannotAttend, NoAttention
from whence.core.hooks import remove_hooks
from whence.core.model_sites import ADOPTED, SITE_ATTRIBUTE, hosts
from whence.core.replaced import restore
from whence.core.scope import undone
from whence.core.site import AttentionSite
from whence.huggingface.base_site import AdoptedSite
from whence.huggingface.checks import adoptable, refuse_blocks, refuse_no_inputs, refuse_offloaded
from whence.huggingface.discovery import Attended, discover
from whence.huggingface.eager_site import EagerSite
from whence.huggingface.probe import Inputs, batch_of, evaluating, probe_inputs
from whence.huggingface.proof import prove
from whence.huggingface.unreached_site import Unreached, is_refusal


def adopt(model: nn.Module, example: Inputs | None = None) -> PreTrainedModel:
    """Give every attention of the model a site, so that `attending` can watch and override it; returns the model.

    Sites are found and checked with one small input, generated here or given as `example` (keyword arguments of the
    model). The check: outputs equal the model's own with eager attention, also on texts longer than its windows
    (up to 256 tokens), every site is called, rows sum to one.
    Anything else raises. Outside `attending`, the model runs unchanged, at the same speed, and its checkpoints stay the
    same. Attention that the input does not reach has no site, and raises if it runs inside `attending`. `release`
    removes the sites. Of a model wrapped by PEFT or DataParallel, the inner model is adopted and returned; the wrapper
    shares its sites.
    """
    model = adoptable(model)
    if _is_adopted(model):
        return model
    if _has_own_sites(model):
        for part in _parts_without_sites(model):
            with suppress(NoAttention):
                adopt(part)
        return model
    refuse_offloaded(model)
    refuse_blocks(model)
    if example is not None:
        refuse_no_inputs(example)
    release(model)  # a part of it may have been adopted before it became a part
    with evaluating(model), undone(lambda: _release_unproven(model)):
        inputs = probe_inputs(model) if example is None else example
        log, unreached = discover(model, inputs)
        _attach(log, batch_of(inputs))
        prove(model, inputs, log)
        _guard_unreached(log, unreached)
        model.__dict__[ADOPTED] = tuple(hosts(model))
    return model


def release(model: nn.Module) -> nn.Module:
    """Restore the model to what it was before `adopt`, whatever its state."""
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
    return ADOPTED in model.__dict__ and set(model.__dict__[ADOPTED]) == set(hosts(model))


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


def _has_own_sites(model: nn.Module) -> bool:
    """Whether the model's own code has sites, as our models have."""
    return any(type(module) is AttentionSite for module in model.modules())


def _parts_without_sites(model: nn.Module) -> list[PreTrainedModel]:
    """The Hugging Face models inside a model that has its own sites."""
    found: list[PreTrainedModel] = []
    for child in model.children():
        if isinstance(child, PreTrainedModel) and not _has_own_sites(child):
            found.append(child)
        else:
            found += _parts_without_sites(child)
    return found
