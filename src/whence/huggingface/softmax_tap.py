"""The tap: see and replace what a softmax returns, or what fused attention would have computed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode, _get_current_function_mode, _pop_mode, _push_mode

from whence.core.scope import undone

SOFTMAXES = {F.softmax, torch.softmax, Tensor.softmax}
FUSED = F.scaled_dot_product_attention
PRODUCTS = {torch.mul, Tensor.mul, Tensor.__mul__}

OnSoftmax = Callable[[Tensor, Tensor], Tensor]  # weights, scores -> weights


class Tap(TorchFunctionMode):
    """While active in this thread, every softmax over a last axis, and every fused attention, passes through here.

    With `skip_unit_scale`, a product with the number 1.0 is its tensor: no copy of N × N scores is made.
    """

    def __init__(
        self,
        on_softmax: OnSoftmax | None = None,
        on_fused: Callable[..., Tensor] | None = None,
        skip_unit_scale: bool = False,
    ) -> None:
        super().__init__()
        self.on_softmax, self.on_fused, self.skip_unit_scale = on_softmax, on_fused, skip_unit_scale
        self.live = False

    @contextmanager
    def active(self) -> Iterator[None]:
        """Tap for the length of a block; Ctrl-C at any point of it leaves no tap behind."""
        with undone(self.stop):
            self.live = True
            _push_mode(self)
            yield

    def stop(self) -> None:
        """Close the tap, and take closed ones off this thread's stack of modes; one below an open tap goes later."""
        self.live = False
        while isinstance(top := _get_current_function_mode(), Tap) and not top.live:
            _pop_mode()

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not self.live:
            return function(*args, **kwargs)
        if self.on_fused is not None and function is FUSED:
            return self.on_fused(*args, **kwargs)
        if self.skip_unit_scale and function in PRODUCTS and isinstance(args[-1], float) and args[-1] == 1.0:
            return args[0]
        result = function(*args, **kwargs)
        if self.on_softmax is not None and function in SOFTMAXES and _over_last_axis(args, kwargs):
            scores = args[0] if args else kwargs["input"]
            return self.on_softmax(result, scores)
        return result


def _over_last_axis(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    axes = (args[0] if args else kwargs["input"]).dim()
    return (args[1] if len(args) > 1 else kwargs.get("dim")) in (-1, axes - 1)
