"""Rows: the positions of a sequence that are read out after a layer, and a layer run for those alone.

A classifier reads one row of its last layer. There, an override of the attention is followed through that row alone,
which is most of what partial recomputation can save.
"""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from whence.core.site import repeated

Rows = Int[Tensor, "batch picked"]  # which rows of each example


def last_layer_around(path: list[nn.Module], model: nn.Module) -> nn.Module | None:
    """The layer on the path to a site, if it is the last of its stack (the last entry of a module list)."""
    last = {stack[-1] for stack in model.modules() if isinstance(stack, nn.ModuleList) and len(stack)}
    layers = {layer for stack in model.modules() if isinstance(stack, nn.ModuleList) for layer in stack}
    outermost = next((module for module in path if module in layers), None)
    return outermost if outermost in last else None


def rows_read(layer_output: Any, run: Callable[[Any], Tensor], n_row: int, at_once: int) -> Bool[Tensor, "batch row"]:
    """Which rows of a layer's output are read by what comes after it: those whose NaN makes the output NaN.

    Unlike a gradient, NaN also shows what is read through a maximum or a dead unit. `run` takes the layer's output for
    several copies of the batch and returns the model's output [copies·batch ...].
    """
    read = []
    for first in range(0, n_row, at_once):
        rows = range(first, min(first + at_once, n_row))

        def poison(tensor: Any, rows: range = rows) -> Any:
            if not _has_rows(tensor, n_row) or not tensor.is_floating_point():
                return repeated(tensor, len(rows)) if isinstance(tensor, Tensor) else tensor
            copies = repeated(tensor, len(rows)).clone().unflatten(0, (len(rows), -1))
            for copy, row in enumerate(rows):
                copies[copy, :, row] = torch.nan
            return copies.flatten(0, 1)

        output = run(tree_map(poison, layer_output))
        read.append(output.isnan().flatten(1).any(1).unflatten(0, (len(rows), -1)))  # [row batch]
    return torch.cat(read).T


def equally_many(read: Bool[Tensor, "batch row"]) -> Rows | None:
    """The indices of the rows read, if every example reads equally many and not all; else None."""
    counts = read.sum(1)
    if bool((counts != counts[0]).any()) or int(counts[0]) in (0, read.shape[1]):
        return None
    return read.nonzero()[:, 1].view(read.shape[0], -1)


def take_rows(structure: Any, rows: Rows, n_row: int) -> Any:
    """Tensors [batch row width] and [batch head row key] cut down to some rows; everything else as it is."""

    def take(tensor: Any) -> Any:
        if _has_rows(tensor, n_row):
            return _gather_rows(tensor, rows)
        if isinstance(tensor, Tensor) and tensor.dim() == 4 and tensor.shape[2] == n_row:
            return _gather_rows(tensor.transpose(1, 2), rows).transpose(1, 2)
        return tensor

    return tree_map(take, structure)


def fill_rows(whole: Any, parts: Any, rows: Rows, n_row: int) -> Any:
    """What a layer returned for some rows, put into their places in what it returned for all rows before."""
    whole_leaves, structure = tree_flatten(whole)
    part_leaves, part_structure = tree_flatten(parts)
    if structure != part_structure:
        raise RuntimeError("the layer returned something else for some rows than for all")
    each = torch.arange(rows.shape[0], device=rows.device)[:, None]

    def fill(whole: Any, part: Any) -> Any:
        if not _has_rows(whole, n_row):
            return part
        filled = repeated(whole, part.shape[0] // whole.shape[0]).clone()
        filled[each, rows] = part
        return filled

    return tree_unflatten([fill(w, p) for w, p in zip(whole_leaves, part_leaves, strict=True)], structure)


def _has_rows(tensor: Any, n_row: int) -> bool:
    return isinstance(tensor, Tensor) and tensor.dim() == 3 and tensor.shape[1] == n_row


def _gather_rows(tensor: Tensor, rows: Rows) -> Tensor:
    """Some rows of each example; a tensor without a batch axis (rotary angles) is used for all."""
    each = torch.arange(rows.shape[0], device=rows.device)[:, None]
    return tensor.expand(rows.shape[0], *tensor.shape[1:])[each, rows]
