"""Overrides that attention is replaced with in tests."""

from collections.abc import Callable

from torch import Tensor

from whence.core.site import Call


class Trusted:
    """A rule whose rows need not sum to one: nobody checks them."""

    trusted = True

    def __init__(self, rule: Callable[[Call], Tensor]) -> None:
        self.rule = rule

    def __call__(self, call: Call) -> Tensor:
        return self.rule(call)
