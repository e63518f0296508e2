"""Route 1: models that look their attention function up by name.

An attended module is given a function that calls the module's own eager function with the softmax tapped, so that
softcaps, sinks and position biases come right by themselves. Modules that are not attended stay on their fast path, and
the model makes its masks as before.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from whence.core.checkpointing import checkpointed
from whence.core.errors import CannotAttend
from whence.huggingface.base_site import AdoptedSite, permitted_by, permitted_by_scores
from whence.huggingface.interface import Lookup, ServedSite
from whence.huggingface.softmax_tap import OnSoftmax, Tap


class InterfaceSite(AdoptedSite, ServedSite):
    """A site in a module that asks `ALL_ATTENTION_FUNCTIONS` for `config._attn_implementation`."""

    sliceable = False  # whether heads can be computed one at a time; adoption finds out

    def refuse_unattendable(self) -> None:
        """Fused kernels form no weights."""
        native = getattr(getattr(self.host, "config", None), "_attn_implementation", None)
        if native not in ("eager", "sdpa", None):
            raise CannotAttend(
                f"{type(self.host).__name__} runs the fused attention {native!r}, which forms neither weights nor the"
                ' masks to form them; call model.set_attn_implementation("sdpa") first'
            )

    def attend(self, lookup: Lookup, module: nn.Module, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor | None]:
        """The module's own eager function, its softmax delivered here; or a context that is ready already."""
        for session in self.sessions:
            ready = getattr(session, "ready_context", None)
            if ready is not None:
                session.ready_context = None  # type: ignore[attr-defined]
                return ready, None
        recompute = any(getattr(session, "recompute", False) for session in self.sessions)
        if recompute and self.checkpoints_heads and torch.is_grad_enabled():
            return self._checkpointed(lookup, module, *args, **kwargs)
        return attention(self, lookup, module, *args, **kwargs)

    @property
    def checkpoints_heads(self) -> bool:
        """Whether the heads can be computed one after another, for all who attend."""
        return self.sliceable and self.streams_heads

    def _checkpointed(
        self, lookup: Lookup, module: nn.Module, query: Tensor, key: Tensor, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, None]:
        """The context of all heads, each checkpointed by itself: no weights are kept, not even of one head."""
        contexts = []
        for part in _head_by_head(query.shape[1], key.shape[1]):
            run = checkpointed(partial(attention, self, lookup, module, part=part))
            contexts.append(run(query, key, *args, **kwargs)[0])
        return torch.cat(contexts, dim=2), None


def attention(
    site: InterfaceSite,
    lookup: Lookup,
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    part: tuple[slice, slice] | None = None,
    **kwargs: Any,
) -> tuple[Tensor, Tensor | None]:
    """The module's own eager function, its softmax delivered at the site; of a `part`, those query and key heads."""
    # eager functions are meant for masks that are added; what one makes of another is read off its scores
    unread = lookup.runs_eager and attention_mask is not None and attention_mask.dtype == torch.bool
    mask = None if unread else _permitted(site, lookup, query, key, attention_mask, kwargs.get("is_causal"))
    added = attention_mask
    if mask is not None and (attention_mask is None or attention_mask.dtype == torch.bool):
        added = torch.zeros((), dtype=query.dtype, device=query.device)
        added = torch.where(mask, added, torch.finfo(query.dtype).min)  # as transformers' eager_mask
    elif attention_mask is None and not lookup.runs_eager and query.shape[2] == 1:
        added = query.new_zeros(1, 1, 1, 1)  # sdpa needs no mask for one token, but some eager functions always add one
    n_heads = query.shape[1]
    native = partial(lookup.function, module, query, key, value, attention_mask, **kwargs | {"dropout": 0.0})
    no_context = not lookup.runs_eager and _gives_no_context(native, mask)
    one_by_one = site.sliceable and site.streams_heads and not torch.is_grad_enabled()

    def run(heads: slice, kv_heads: slice, on_softmax: OnSoftmax) -> tuple[Tensor, Tensor | None]:
        with Tap(on_softmax, skip_unit_scale=one_by_one).active():
            return lookup.eager(
                module,
                query[:, heads],
                key[:, kv_heads],
                value[:, kv_heads],
                _of_heads(added, heads, n_heads),
                **{name: _of_heads(argument, heads, n_heads) for name, argument in kwargs.items()},
            )

    def deliver(heads: slice, kv_heads: slice) -> OnSoftmax:
        def at_site(weights: Tensor, scores: Tensor) -> Tensor:
            sinks = weights.shape[-1] - key.shape[2]
            own_mask = permitted_by_scores(scores, weights) if unread else _of_heads(mask, heads, n_heads)
            if own_mask is not None and sinks and not unread:
                own_mask = F.pad(own_mask, (0, sinks), value=True)
            if own_mask is not None and no_context:
                weights = weights.masked_fill(~own_mask.any(-1, keepdim=True), 0.0)
            own_values = _per_query_head(value[:, kv_heads], weights.shape[1])
            return site.deliver(weights, scores, own_mask, own_values, sinks, range(n_heads)[heads], n_heads, mix)

        return at_site

    def mix(weights: Tensor) -> Tensor:
        """The context of other weights [batch head any key], as the host would get it: [batch any head width]."""
        return run(ALL, ALL, lambda *_: weights)[0]

    if one_by_one:
        if isinstance(kwargs.get("scaling"), float):  # a query is smaller than its scores
            query, kwargs["scaling"] = query * kwargs["scaling"], 1.0
        contexts, weights = [], []
        for part in _head_by_head(query.shape[1], key.shape[1]):
            context, of_heads = run(*part, deliver(*part))
            contexts.append(context)
            weights += [of_heads] if lookup.runs_eager and of_heads is not None else []  # its caller may collect them
        return torch.cat(contexts, dim=2), torch.cat(
            weights, dim=1
        ) if weights else None  # for a caller that collects them
    return run(*(part or (ALL, ALL)), deliver(*(part or (ALL, ALL))))


ALL = slice(None)


def _head_by_head(n_heads: int, n_kv_heads: int) -> list[tuple[slice, slice]]:
    """The query heads of each key/value head in turn."""
    group = n_heads // n_kv_heads
    return [(slice(kv * group, (kv + 1) * group), slice(kv, kv + 1)) for kv in range(n_kv_heads)]


def _per_query_head(values: Tensor, n_heads: int) -> Tensor:
    """Values that several query heads share, once for each of them."""
    repeats = n_heads // values.shape[1]
    return values if repeats == 1 else values.repeat_interleave(repeats, dim=1)


def _gives_no_context(native: Callable[[], tuple[Tensor, Tensor | None]], mask: Tensor | None) -> bool:
    """Whether queries that may see no key get no context from the function that runs unwatched; false without such.

    sdpa gives them none under a boolean mask, and the mean of all values under one that is added to the scores.
    """
    if mask is None or bool((sees := mask.any(-1)).all()):  # [batch #head #query]
        return False
    with torch.no_grad():
        context = native()[0]  # [batch query head width]
    return not bool(context.masked_fill(sees.mT[..., None], 0.0).any())


def _of_heads(argument: Any, heads: slice, n_heads: int) -> Any:
    """An argument cut down to some heads, if it has a head axis (masks and position biases may)."""
    has_heads = isinstance(argument, Tensor) and argument.dim() == 4 and argument.shape[1] == n_heads
    return argument[:, heads] if has_heads and heads != ALL else argument


def _permitted(
    site: InterfaceSite,
    lookup: Lookup,
    query: Tensor,
    key: Tensor,
    attention_mask: Tensor | None,
    is_causal: bool | None,
) -> Tensor | None:
    """Which keys a query may see, read from whatever mask the model made for its own implementation."""
    if attention_mask is not None:
        mask = attention_mask if attention_mask.dtype == torch.bool else permitted_by(attention_mask)
        return mask.expand(query.shape[0], -1, -1, -1)
    causal = getattr(site.host, "is_causal", True) if is_causal is None else is_causal
    if lookup.runs_eager or not causal or query.shape[2] == 1:
        return None
    # sdpa is given no mask where its `is_causal` says the same: query i sees the keys up to i, counted from the left
    ones = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool, device=query.device)
    return ones.tril().expand(query.shape[0], 1, -1, -1)
