"""Layers watched from the top down, while a model runs from the bottom up: each runs again, by itself.

What reaches the tokens from one position is a row times the layers' matrices, from the top. Bottom up, matrices must be
multiplied with matrices, which is cubic in the length of a text. So a pass of the model notes the input of each layer
(as long as the text, not as its square), and each layer then runs on it again, the topmost first. All of it costs a
second pass, and one layer's weights are held at a time. A layer that does not give the same output again, by itself, is
watched in a whole pass of its own.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from whence.attribution.contributions import near
from whence.attribution.layer_stack import Followed, follow, layered, unwatched
from whence.attribution.single_layers import CANNOT_RUN, module_of, noting, uncached
from whence.attribution.sinks import sparing_these, without_them
from whence.core.attending import Watcher, attending
from whence.core.errors import BadConfig
from whence.core.site import Call, Site
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target

PASS = 12  # a layer multiplies about 12 · width² numbers for a token


class Product(Protocol):
    """A watcher that multiplies the layers it sees, and reads rows of the product."""

    def __call__(self, call: Call) -> None: ...
    def read_from(self, positions: Tensor) -> Tensor: ...


Made = TypeVar("Made", bound=Callable[[Call], None])


@dataclass(eq=False)
class Downwards:
    """The layers of one pass, each of which can be run again under a watcher, in any order."""

    subject: Subject
    batch: Batch
    sites: dict[str, Site]
    noted: dict[nn.Module, list[tuple[Any, Any]]]

    def watched(self, name: str, make: Callable[[], Made], sinks: Mapping[str, Tensor] | None = None) -> Made:
        """A new watcher that has seen the weights of this layer, without those on sinks."""
        with suppress(*CANNOT_RUN):
            watcher = make()
            if self._again(name, sparing_these(watcher, sinks or {})):
                return watcher
        watcher = make()
        with attending(self.subject.model, watch={name: sparing_these(watcher, sinks or {})}):
            self.subject.model(**self.batch.inputs, **uncached(self.subject))
        return watcher

    def _again(self, name: str, watcher: Watcher) -> bool:
        """Run a layer again; whether its output is the same as before."""
        site, module = self.sites[name], _layer(self.subject, name)
        if module is None or module not in self.noted:
            return False
        (args, kwargs), output = self.noted[module][site.ordinal]

        def watch(call: Call) -> None:
            watcher(replace(call, site=site))  # a layer that is shared over depth counts its calls anew

        watch.streams_heads = getattr(watcher, "streams_heads", False)  # type: ignore[attr-defined]
        own = [other for other, one in self.sites.items() if one.path == site.path]
        with attending(self.subject.model, watch=dict.fromkeys(own, watch)):
            again = module(*args, **kwargs)
        pairs = zip(tree_leaves(again), tree_leaves(output), strict=True)
        return all(near(ours.double(), theirs) for ours, theirs in pairs if isinstance(ours, Tensor))


@contextmanager
def noting_layers(subject: Subject, batch: Batch) -> Iterator[Downwards]:
    """While open, notes what each layer is given in a pass of the model."""
    layers = {_layer(subject, name) for name in layered(subject)}
    below = Downwards(subject, batch.by_window(), subject.sites, {})
    with noting({layer for layer in layers if layer is not None}, below.noted):
        yield below


def _layer(subject: Subject, name: str) -> nn.Module | None:
    with suppress(BadConfig):
        return module_of(subject, name)
    return None


@torch.no_grad()
def read_down(
    subject: Subject,
    batch: Batch,
    target: Target | None,
    row: int | str,
    method: str,
    make: Callable[[], Product],
    *,
    heads: int = 1,
    waiting: int = 1,
    same_heads: bool = False,
    without_sinks: bool | float = False,
) -> tuple[Followed, Tensor, str]:
    """Where tracing starts, what reaches the tokens from there, and a note about sinks.

    `make` makes a watcher that multiplies `heads` matrices of each layer, and holds `waiting` layers unmultiplied.
    Where that costs less than a second pass, layers are multiplied as the model runs.
    """
    layers = layered(subject)
    sinks, note = without_them(subject, batch, without_sinks, layers)
    length = batch.by_window().special.shape[1]
    if len(layers) <= waiting or heads * length**2 <= PASS * _width(subject) ** 2:
        product = make()
        followed = follow(subject, batch, target, row, method, sparing_these(product, sinks), same_heads)
        return followed, product.read_from(followed.start), note
    with noting_layers(subject, batch) as below:
        followed = follow(subject, batch, target, row, method, unwatched, same_heads)
    reached = followed.start
    for name in reversed(layers):
        reached = below.watched(name, make, sinks).read_from(reached)
    return followed, reached, note


def _width(subject: Subject) -> int:
    return int(getattr(subject.model.config, "hidden_size", None) or 768)
