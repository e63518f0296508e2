"""The proof of an adoption: the model with sites computes what it computes without them."""

from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

from whence.core.attending import attending
from whence.core.errors import CannotAdopt
from whence.core.model_sites import SITE_ATTRIBUTE
from whence.core.site import Call, Kind, module_path
from whence.core.streaming import Summary
from whence.core.tape import Tape
from whence.huggingface.discovery import Attended
from whence.huggingface.interface_site import InterfaceSite
from whence.huggingface.longer import beyond_windows, unpadded
from whence.huggingface.probe import Inputs, batch_of, difference, natively_eager, run

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-5}
HALF_TOLERANCE = 2e-2


def prove(model: PreTrainedModel, inputs: Inputs, log: list[Attended]) -> None:
    """Raise unless outputs equal those of native eager attention, every site is called and rows sum to one."""
    with attending(model) as tape:
        watched = run(model, inputs)
    tolerance = TOLERANCE.get(watched[0].dtype, HALF_TOLERANCE)
    _refuse_difference(model, inputs, watched, tolerance)
    _refuse_odd_calls(model, inputs, tape, len(log), tolerance)
    _refuse_hidden_sinks(model, tape)
    _set_kinds(model, tape)
    _allow_head_by_head(model, inputs, watched, tolerance)


def _refuse_difference(model: PreTrainedModel, inputs: Inputs, watched: list[torch.Tensor], tolerance: float) -> None:
    """Compare with native eager attention on the probe, and on a text beyond the model's windows.

    Padding that sees no key at all (behind a short window) is computed differently by eager and sdpa. Where that is so,
    padded outputs must equal the model's own, and those without padding native eager attention.
    """
    off, bare = _eager_difference(model, inputs, watched), unpadded(inputs)
    if not off <= tolerance and bare is not None:
        off = max(difference(watched, run(model, inputs)), _eager_difference(model, bare))
    longer = beyond_windows(model, inputs)
    if off <= tolerance and longer is not None:
        off = _eager_difference(model, longer)
    if not off <= tolerance:
        name = type(model).__name__
        raise CannotAdopt(
            f"{name} through its sites differs from {name} with native eager attention by {off:.2g} (allowed:"
            f" {tolerance:g}), so Whence does not understand how its attention is computed; not adopted"
        )


def _eager_difference(model: PreTrainedModel, inputs: Inputs, watched: list[torch.Tensor] | None = None) -> float:
    with natively_eager(model):
        native = run(model, inputs)
    if any(bool(output.isnan().any()) for output in native):
        name = type(model).__name__
        raise CannotAdopt(f"{name} outputs NaN even without sites: check its weights, or use another dtype (--dtype)")
    if watched is None:
        with attending(model, watch=lambda call: None):
            watched = run(model, inputs)
    return difference(watched, native)


def _refuse_odd_calls(model: PreTrainedModel, inputs: Inputs, tape: Tape, expected: int, tolerance: float) -> None:
    name, calls, batch = type(model).__name__, tape.calls(), batch_of(inputs)
    if len(calls) != expected:
        raise CannotAdopt(f"{name}: {expected} attentions were found, but {len(calls)} were called; not adopted")
    for call in calls:
        if call.weights.shape[0] != batch:
            raise CannotAdopt(
                f"{name}: the weights at {call.site.name} are {list(call.weights.shape)} for a batch of {batch}; their"
                " axes are not understood; not adopted"
            )
        rows = call.weights.float().sum(-1)[call.mask.any(-1).expand(call.weights.shape[:-1])]
        if not bool(((rows - 1).abs() <= (1e-4 if tolerance < 1e-2 else 5e-2)).all()):
            raise CannotAdopt(f"{name}: the rows at {call.site.name} do not sum to one; not adopted")


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
    path = module_path(site)
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


def _allow_head_by_head(model: nn.Module, inputs: Inputs, watched: list[torch.Tensor], tolerance: float) -> None:
    """Try each attention one head after another, and allow it if the output stays the same."""
    sites = [module for module in model.modules() if isinstance(module, InterfaceSite)]
    for site in sites:
        site.sliceable = True
    try:
        with attending(model, watch=Summary()):
            works = difference(run(model, inputs), watched) <= tolerance
    except (RuntimeError, ValueError, IndexError, TypeError):  # a function that needs all its heads at once
        works = False
    for site in sites:
        site.sliceable = works
