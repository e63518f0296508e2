"""Whence: is this model's attention an explanation of its predictions?"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whence.core.attending import attending, sites
    from whence.core.overrides import (
        from_logits,
        imposed,
        permuted,
        random,
        scaled,
        temperature,
        uniform,
        without,
    )  # fmt: skip
    from whence.core.replay import Replay
    from whence.core.site import AttentionSite
    from whence.core.streaming import HeadProduct, Rollout, Summary
    from whence.models.huggingface import adopt, release

_WINDOW = {
    "whence.core.attending": ("attending", "sites"),
    "whence.core.overrides": (
        "from_logits", "imposed", "permuted", "random", "scaled", "temperature", "uniform", "without",
    ),
    "whence.core.replay": ("Replay",),
    "whence.core.site": ("AttentionSite",),
    "whence.core.streaming": ("HeadProduct", "Rollout", "Summary"),
    "whence.models.huggingface": ("adopt", "release"),
}  # fmt: skip
_HOME = {name: module for module, names in _WINDOW.items() for name in names}

__all__ = sorted(_HOME)
__version__ = "0.1.0.dev0"


def __getattr__(name: str) -> Any:
    """Names are fetched when first used, so that a saved run can be looked at without torch."""
    if name not in _HOME:
        raise AttributeError(f"module 'whence' has no attribute {name!r}; it has: {', '.join(__all__)}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
