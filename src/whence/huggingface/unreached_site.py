"""Attention that the probe did not reach: it has no site, and raises if it runs inside `attending`."""

from typing import Any

from torch import nn

from whence.core.errors import CannotAttend
from whence.core.site import AttentionSite
from whence.huggingface.base_site import AdoptedSite


class Unreached(AdoptedSite):
    """Stands in a module that the probe never ran: cross-attention without a source, an image tower without images.

    It is not listed among the sites (it has no calls); it raises when its host runs inside `attending`.
    """

    def __init__(self, host: nn.Module, name: str, others: tuple[AttentionSite, ...]) -> None:
        super().__init__(host)
        self.calls = 0
        self.name, self.others = name, others
        host.register_forward_pre_hook(self.refuse)

    def refuse(self, host: nn.Module, args: Any) -> None:
        """The hook: outside `attending`, nothing happens."""
        if any(site.sessions for site in self.others):
            raise CannotAttend(
                f"{self.name} attends, but has no site, since the input that adoption tried did not reach it; call"
                " release(model), and adopt(model, example=...) with an input that does"
            )


def is_refusal(hook: Any) -> bool:
    """Whether a hook is that of an unreached site."""
    return isinstance(getattr(hook, "__self__", None), Unreached)
