"""What all sites of adopted models share."""

from typing import Any

from torch import Tensor, nn

from whence.core.errors import CannotAttend
from whence.core.site import AttentionSite

FORBIDDEN = -9e3  # models forbid a key by adding -1e4 or far less


class AdoptedSite(AttentionSite):
    """A site inside the attention module of another library, its host."""

    def __init__(self, host: nn.Module) -> None:
        super().__init__()
        self._host = (host,)  # in a tuple, or torch would take the host for a child of its own child

    def __getstate__(self) -> dict[str, Any]:
        if self.attended:  # the host may not be as it was: a copy would stay so for good
            raise CannotAttend("the model is being attended; copy or pickle it after the `with attending` block")
        return super().__getstate__()

    @property
    def host(self) -> Any:
        """The attention module, of whatever class."""
        return self._host[0]


def permitted_by(additive: Tensor) -> Tensor:
    """Where a mask that is added to the scores permits attention."""
    return additive > FORBIDDEN


def permitted_by_scores(scores: Tensor, weights: Tensor) -> Tensor | None:
    """Which keys a model permitted, read from its scores: it forbids with scores so low that nothing is left."""
    low = scores <= FORBIDDEN
    forbidden = low & ((weights == 0) | low.all(-1, keepdim=True))
    return ~forbidden if bool(forbidden.any()) else None
