"""Whence: is this model's attention an explanation of its predictions?"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whence.api import audit as audit
    from whence.api import corpus as corpus
    from whence.api import explain as explain
    from whence.api import load as load
    from whence.api import reproduce as reproduce
    from whence.api import run as run
    from whence.api import train as train
    from whence.core.attending import attending as attending
    from whence.core.model_sites import sites as sites
    from whence.core.overrides import from_logits as from_logits
    from whence.core.overrides import imposed as imposed
    from whence.core.overrides import permuted as permuted
    from whence.core.overrides import random as random
    from whence.core.overrides import scaled as scaled
    from whence.core.overrides import temperature as temperature
    from whence.core.overrides import uniform as uniform
    from whence.core.overrides import without as without
    from whence.core.replay.attention import Replay as Replay
    from whence.core.streaming import HeadProduct as HeadProduct
    from whence.core.streaming import Rollout as Rollout
    from whence.core.streaming import Summary as Summary
    from whence.huggingface import adopt as adopt
    from whence.huggingface import release as release
    from whence.workbench.notebook import show as show

_OVERRIDES = ("from_logits", "imposed", "permuted", "random", "scaled", "temperature", "uniform", "without")
_WINDOW = {
    "whence.api": ("audit", "corpus", "explain", "load", "reproduce", "run", "train"),
    "whence.core.attending": ("attending",),
    "whence.core.model_sites": ("sites",),
    "whence.core.overrides": _OVERRIDES,
    "whence.core.replay.attention": ("Replay",),
    "whence.core.streaming": ("HeadProduct", "Rollout", "Summary"),
    "whence.huggingface": ("adopt", "release"),
    "whence.workbench.notebook": ("show",),
}
_HOME = {name: module for module, names in _WINDOW.items() for name in names}

__all__ = sorted(_HOME)
__version__ = "0.1.0.dev0"


def __getattr__(name: str) -> Any:
    """Fetch a name when it is first used, so that a saved run can be read without importing torch."""
    if name not in _HOME:
        raise AttributeError(f"module 'whence' has no attribute {name!r}; it has: {', '.join(__all__)}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
