"""The place where a model of transformers looks its attention function up by name.

A module asks `AttentionInterface.get_interface` for the function that its config names, and calls it. That lookup is
wrapped here, once: inside `attending`, a module with a site gets a function that serves the site. The config keeps the
name it had, so a model that tests its own `_attn_implementation` takes the branch that it always takes; and outside
`attending` the lookup returns what transformers returns.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any

from torch import Tensor, nn
from transformers import AttentionInterface

from whence.core.model_sites import SITE_ATTRIBUTE
from whence.core.scope import ANYWHERE, HERE, Scope, scopes_here
from whence.core.site import AttentionSite

Attention = Callable[..., tuple[Tensor, Tensor | None]]


@dataclass(frozen=True)
class Lookup:
    """What a module asked for: the function of the implementation it runs, and the eager function of its own file."""

    function: Attention
    eager: Attention

    @property
    def runs_eager(self) -> bool:
        """Whether the module runs its eager function anyway, so that masks are added and weights returned."""
        return self.function is self.eager


class ServedSite(AttentionSite):
    """A site that is served through the interface."""

    def attend(self, lookup: Lookup, module: nn.Module, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor | None]:
        """What the module gets instead of what it looked up."""
        raise NotImplementedError


class Listener(Scope):
    """While open, learns of every module that uses the interface, with its queries and keys."""

    def __init__(self, hear: Callable[[nn.Module, Tensor, Tensor], None]) -> None:
        super().__init__()
        self.hear = hear


def _serve(
    lookup: Lookup, module: nn.Module, query: Tensor, key: Tensor, *args: Any, **kwargs: Any
) -> tuple[Tensor, Tensor | None]:
    for listener in scopes_here(Listener):
        listener.hear(module, query, key)
    site = module._modules.get(SITE_ATTRIBUTE)
    if isinstance(site, ServedSite) and site.sessions:
        return site.attend(lookup, module, query, key, *args, **kwargs)
    return lookup.function(module, query, key, *args, **kwargs)


def _wrapped(native: Callable[..., Attention]) -> Callable[..., Attention]:
    @wraps(native)
    def get_interface(self: AttentionInterface, attn_implementation: str, default: Attention) -> Attention:
        function = native(self, attn_implementation, default)
        if not ANYWHERE or not HERE.get():
            return function
        return partial(_serve, Lookup(function, default))

    return get_interface


AttentionInterface.get_interface = _wrapped(AttentionInterface.get_interface)  # type: ignore[method-assign]
