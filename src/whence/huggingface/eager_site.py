"""Route 2: models that write their own softmax. The tap goes around the attention module's forward."""

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor, nn

from whence.core.replaced import Wrap
from whence.huggingface.base_site import AdoptedSite, permitted_by_scores
from whence.huggingface.softmax_tap import Tap


class TappedSite(AdoptedSite):
    """A site whose host's forward runs under a tap while it is attended."""

    def tap(self) -> Tap:
        raise NotImplementedError

    def wrappers(self) -> Mapping[nn.Module, Wrap]:
        """The host's forward, under a tap."""
        return {self.host: self.tapped}

    def tapped(self, forward: Callable[..., Any]) -> Callable[..., Any]:
        """A forward whose softmax is delivered here."""

        def under_tap(*args: Any, **kwargs: Any) -> Any:
            with self.tap().active():
                return forward(*args, **kwargs)

        return under_tap


class EagerSite(TappedSite):
    """A site in a module whose forward calls softmax itself, on [batch head query key] or [batch·head query key]."""

    def __init__(self, host: Any, n_heads: int) -> None:
        super().__init__(host)
        self.n_heads = n_heads

    def tap(self) -> Tap:
        return Tap(on_softmax=self._at_softmax)

    def _at_softmax(self, weights: Tensor, scores: Tensor) -> Tensor:
        if not is_attention(weights):
            return weights
        shape = (-1, self.n_heads, *weights.shape[-2:])
        mask = permitted_by_scores(scores.reshape(shape), weights.reshape(shape))
        return self.deliver(weights.reshape(shape), scores.reshape(shape), mask).reshape(-1, *weights.shape[1:])


def is_attention(weights: Tensor) -> bool:
    """Whether a softmax can be one over keys, by its axes: [batch head query key], or heads folded into the batch."""
    return weights.dim() in (3, 4)
