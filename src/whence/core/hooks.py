"""Hooks on every module of a model that are sure to be gone after a block."""

from collections.abc import Callable
from typing import Any

from torch import nn


def remove_hooks(model: nn.Module, is_ours: Callable[[Any], bool]) -> None:
    """Take hooks off every module by what they call, so that none is left behind if a handle was lost."""
    for module in model.modules():
        for hooks in (module._forward_pre_hooks, module._forward_hooks):
            for key in [key for key, hook in hooks.items() if is_ours(hook)]:
                del hooks[key]
        known = {*module._forward_pre_hooks, *module._forward_hooks}
        for flags in (module._forward_pre_hooks_with_kwargs, module._forward_hooks_always_called):
            for key in [key for key in flags if key not in known]:
                del flags[key]
