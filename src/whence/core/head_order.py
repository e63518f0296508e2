"""Heads renumbered: the model computes the same, and watchers see its heads in another order."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from torch import nn

from whence.core.model_sites import site_module
from whence.core.site import AttentionSite, Call, Renumbered
from whence.core.tape import pick_heads


@contextmanager
def relabelled(model: nn.Module, orders: Mapping[str, Sequence[int]]) -> Iterator[None]:
    """For the length of a `with` block, watchers of a site see as head k what is its head orders[site][k].

    Nothing else changes, and overrides see the heads as they are. It is as if the rows of the layer's query, key and
    value projections, and the columns of its output projection, had been moved head by head: the same function with
    its heads renumbered. A layer that is shared over depth has one order, whichever of its names it is given by.
    """
    modules: dict[AttentionSite, tuple[int, ...]] = {}
    for name, order in orders.items():
        module, *_ = site_module(model, name)
        if sorted(order) != list(range(len(order))):
            raise ValueError(f"expected an order of the heads 0 to {len(order) - 1} for {name!r}, got {list(order)}")
        if modules.setdefault(module, tuple(order)) != tuple(order):
            raise ValueError(f"{name!r} is one layer that is called several times; its heads have one order")
    with Renumbered({module: partial(_renumber, order=order) for module, order in modules.items()}).entered():
        yield


def _renumber(call: Call, order: Sequence[int]) -> Call:
    if len(order) != call.n_heads:
        raise ValueError(f"expected an order of {call.n_heads} heads, got one of {len(order)}: {list(order)}")
    return replace(pick_heads(call, order), heads=call.heads)
