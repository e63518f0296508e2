"""From one matrix a layer to a score for each token: multiplied over the layers, or one layer's, or their mean."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from whence.attribution.layer_stack import stack_of
from whence.attribution.read_rows import automatic, readable, refuse_row, shares
from whence.core.errors import BadConfig
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target

LAYERS = ("auto", "rollout", "last", "mean")
Matrices = dict[str, Float[Tensor, "batch query key"]]
Made = Callable[[list[str], Batch], Matrices]


def scored(
    subject: Subject, batch: Batch, target: Target, method: str, layer: int | str, row: int | str, made: Made
) -> tuple[Float[Tensor, "batch token"], str]:
    """The scores of the tokens, and a phrase about how they were computed from the layers' matrices.

    `made` gives the matrix of each of some sites: how much each key is in each query, rows that sum to one. `layer`:
    `rollout` (their product, down one stack of self-attention, as Abnar & Zuidema 2020 multiply weights), `last`,
    `mean`, or a number; `auto` is the product where there is one stack, else the mean. `row`: see `raw_attention`.
    """
    if isinstance(layer, str) and layer not in LAYERS:
        raise BadConfig(f"no layer {layer!r}; choose from: {', '.join(LAYERS)}, or a number")
    refuse_row(row)
    batch, names = batch.by_window(), readable(subject)
    refuse_parts(subject, names, method)
    layers, pool = _stack(subject, method, layer)
    if layers is not None:
        if pool is not None and row != "auto":
            raise BadConfig(f"{method} starts from the local attention {pool}; leave row at auto")
        return _rolled(subject, batch, target, row, made([*layers, *([pool] if pool else [])], batch), pool)
    if isinstance(layer, int) and not -len(names) <= layer < len(names):
        raise BadConfig(f"no layer {layer}; there are {len(names)}, counted from 0")
    chosen = names if layer in ("mean", "auto") else [names[-1] if layer == "last" else names[int(layer)]]
    matrices = made(chosen, batch)
    start, name = _start(subject, batch, target, row, chosen[-1], next(iter(matrices.values())))
    read = [torch.einsum("bq,bqk->bk", start.to(matrix), matrix) for matrix in matrices.values()]
    return torch.stack(read).mean(0), f"layer: {'mean' if layer == 'auto' else layer}, from: {name}"


def _stack(subject: Subject, method: str, layer: int | str) -> tuple[tuple[str, ...] | None, str | None]:
    """The layers to multiply and the local attention above them; None if they are not to be multiplied."""
    if layer not in ("auto", "rollout"):
        return None, None
    try:
        stack = stack_of(subject, method)
    except BadConfig:
        if layer == "rollout":
            raise
        return None, None
    return stack.layers, stack.pool


def _rolled(
    subject: Subject, batch: Batch, target: Target, row: int | str, matrices: Matrices, pool: str | None
) -> tuple[Float[Tensor, "batch token"], str]:
    layers = [matrix for name, matrix in matrices.items() if name != pool]
    if pool is not None:
        start, name = matrices[pool][:, 0], f"local attention ({pool})"
    else:
        start, name = _start(subject, batch, target, row, next(iter(matrices)), layers[0])
    for matrix in reversed(layers):
        start = torch.einsum("bq,bqk->bk", start.to(matrix), matrix)
    down = f"multiplied down {len(layers)} layers" if layers else "no self-attention below it"
    return start, f"from: {name}, {down}"


def _start(
    subject: Subject, batch: Batch, target: Target, row: int | str, name: str, matrix: Float[Tensor, "batch query key"]
) -> tuple[Float[Tensor, "batch query"], str]:
    if matrix.shape[-1] != batch.special.shape[1]:
        raise BadConfig(
            f"the keys at {name} are not the tokens of the text ({matrix.shape[-1]} for {batch.special.shape[1]});"
            " choose another layer by its number"
        )
    row = "first" if matrix.shape[1] == 1 else automatic(subject, batch, subject.sites[name].kind, row)
    name = f"token {row}" if isinstance(row, int) else row
    return shares(batch, target, row, matrix.shape[1]), name


def refuse_parts(subject: Subject, names: list[str], method: str) -> None:
    """Refuse sites whose keys are no tokens."""
    sites = subject.sites  # found anew at each look, so once for all names
    if any(sites[name].keys == "parts" for name in names):
        raise BadConfig(
            f"{method} needs keys that are tokens; at {', '.join(names)} they are parts of the text; see raw_attention"
        )


def rows_to_one(matrix: Float[Tensor, "batch query key"]) -> Float[Tensor, "batch query key"]:
    """Each row divided by its sum; a row of zeros stays one."""
    return matrix / matrix.sum(-1, keepdim=True).clamp_min(torch.finfo(matrix.dtype).tiny)
