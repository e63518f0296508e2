"""Functions of a module, such as its `forward`, replaced in one thread or task and nowhere else."""

from collections.abc import Callable, Mapping
from functools import update_wrapper
from threading import RLock
from typing import Any

from torch import nn

from whence.core.scope import Scope, scopes_here

Function = Callable[..., Any]
Wrap = Callable[[Function], Function]  # what to call instead of a function
LOCK = RLock()


class Replaced(Scope):
    """While open, `attribute` of each module is what its wrapper makes of it; of nested scopes, the inner wraps the
    outer. A wrapper that is given twice wraps once.
    """

    def __init__(self, wrappers: Mapping[nn.Module, Wrap], attribute: str = "forward") -> None:
        super().__init__()
        self.wrappers, self.attribute = wrappers, attribute

    def begin(self) -> None:
        """Open, and put a dispatcher into each module."""
        super().begin()
        with LOCK:
            for module in self.wrappers:
                there = module.__dict__.get(self.attribute)
                if not isinstance(there, Dispatcher):
                    there = module.__dict__[self.attribute] = Dispatcher(module, self.attribute)
                there.users.append(self)

    def close(self) -> None:
        """Close, and give back each function that no other thread replaces."""
        super().close()
        with LOCK:
            for module in self.wrappers:
                restore(module, self.attribute)


class Dispatcher:
    """Stands in for a function of a module while a scope somewhere replaces it; elsewhere the function is unchanged."""

    def __init__(self, module: nn.Module, attribute: str) -> None:
        self.module, self.attribute = module, attribute
        self.own = module.__dict__.get(attribute)  # an instance may carry a function of its own already
        self.function = getattr(module, attribute)
        self.users: list[Replaced] = []
        update_wrapper(self, self.function, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        scopes = [scope for scope in scopes_here(Replaced) if scope.attribute == self.attribute]
        function = self.function
        for wrap in dict.fromkeys(scope.wrappers[self.module] for scope in scopes if self.module in scope.wrappers):
            function = wrap(function)
        return function(*args, **kwargs)


def restore(module: nn.Module, attribute: str = "forward") -> None:
    """Give a module its own function back, unless an open scope still replaces it."""
    there = module.__dict__.get(attribute)
    if isinstance(there, Dispatcher) and not any(scope.open for scope in there.users):
        if there.own is None:
            del module.__dict__[attribute]
        else:
            module.__dict__[attribute] = there.own
