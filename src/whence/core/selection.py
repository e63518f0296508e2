"""Places in a call: which layers, heads, queries, examples and keys are meant."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool
from torch import Tensor

from whence.core.site import Call, Site

Indices = int | slice | Sequence[int] | Tensor  # a tensor of indices, or of truth values


@dataclass(frozen=True)
class Where:
    """The part of the weights that is meant; None stands for all."""

    layers: Sequence[int] | None = None
    heads: Indices | None = None
    queries: Indices | None = None
    examples: Indices | None = None

    def holds_at(self, site: Site) -> bool:
        return self.layers is None or site.layer in self.layers

    def region(self, call: Call) -> Bool[Tensor, "#batch #head #query 1"] | None:
        """Which rows of a call are meant, or None for all of them."""
        batch = call.weights.shape[0]
        regions = []
        if self.heads is not None:
            regions.append(_one_axis(self.heads, call.n_heads, "head", call)[None, :, None, None])
        if self.queries is not None:
            regions.append(_queries(self.queries, call)[:, None, :, None])
        if self.examples is not None:
            examples = _one_axis(self.examples, batch // call.copies, "example", call)
            regions.append(call.per_example(examples)[:, None, None, None])
        region = None
        for mask in regions:
            region = mask if region is None else region & mask
        return region


def key_mask(keys: Indices, call: Call) -> Bool[Tensor, "#batch key"]:
    """Which keys are meant; never a sink.

    By index (for all examples), by truth values [batch key], or, where each copy of the batch has keys of its own
    (partial recomputation), by truth values [times batch key].
    """
    n_key = call.weights.shape[-1] - call.sinks
    mask = _per_example(keys, n_key, "key", call)
    return torch.nn.functional.pad(mask, (0, call.sinks), value=False)


def _queries(queries: Indices, call: Call) -> Bool[Tensor, "#batch query"]:
    mask = _per_example(queries, call.n_queries or call.weights.shape[2], "query", call)
    if call.rows is None:
        return mask
    rows = call.per_example(call.rows)  # [batch picked]
    return mask.expand(rows.shape[0], -1).gather(1, rows)


def _per_example(indices: Indices, size: int, axis: str, call: Call) -> Bool[Tensor, "#batch size"]:
    if isinstance(indices, Tensor) and indices.dim() == 3:
        return _per_copy(indices, size, axis, call)
    if isinstance(indices, Tensor) and indices.dim() == 2:
        expected = (call.weights.shape[0] // call.copies, size)
        if indices.dtype != torch.bool or tuple(indices.shape) != expected:
            raise ValueError(
                f"a mask of {axis} positions at site {call.site.name!r} must be truth values {list(expected)}"
                f" [batch {axis}]; it is {indices.dtype} {list(indices.shape)}"
            )
        return call.per_example(indices.to(call.weights.device))
    return _one_axis(indices, size, axis, call)[None]


def _per_copy(indices: Tensor, size: int, axis: str, call: Call) -> Bool[Tensor, "batch size"]:
    first, copies = call.first_copy, call.copies
    expected = (call.weights.shape[0] // copies, size)
    if indices.dtype != torch.bool or tuple(indices.shape[1:]) != expected or len(indices) < first + copies:
        raise ValueError(
            f"masks of {axis} positions for each copy of the batch at site {call.site.name!r} must be truth values"
            f" {[first + copies, *expected]} [times batch {axis}] or more; they are {indices.dtype}"
            f" {list(indices.shape)}"
        )
    return indices[first : first + copies].flatten(0, 1).to(call.weights.device)


def _one_axis(indices: Indices, size: int, axis: str, call: Call) -> Bool[Tensor, " size"]:
    mask = torch.zeros(size, dtype=torch.bool, device=call.weights.device)
    try:
        mask[indices if isinstance(indices, int | slice | Tensor) else _whole_numbers(indices)] = True
    except (IndexError, TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"no {axis} {indices} at site {call.site.name!r}; there are {size}, counted from 0") from error
    return mask


def _whole_numbers(indices: Sequence[int]) -> list[int]:
    listed = list(indices)
    if not all(hasattr(index, "__index__") for index in listed):
        raise TypeError("indices are whole numbers")
    return listed
