"""Fusion of a layer's heads and residual path: one matrix per layer, from every token to every token."""

from dataclasses import dataclass, field
from typing import cast, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from whence.core.errors import BadConfig
from whence.core.site import Call
from whence.core.streaming import Fusion, augmented, fused


def fusion(heads: str) -> Fusion:
    """One of the names, or an error."""
    if heads not in get_args(Fusion):
        raise BadConfig(f"no heads {heads!r}; choose from: {', '.join(get_args(Fusion))}")
    return cast("Fusion", heads)


@dataclass
class Layers:
    """A watcher that keeps one matrix of each layer, the lowest first: its heads fused, with the residual path."""

    heads: Fusion = "mean"
    residual: bool = True
    matrices: list[Float[Tensor, "batch query key"]] = field(default_factory=list)

    def __call__(self, call: Call) -> None:
        weights = call.weights.to(torch.promote_types(call.weights.dtype, torch.float32))
        parts = call.n_heads if self.heads == "mean" else 1
        self.matrices.append(augmented(fused(weights, self.heads), self.residual, parts))
