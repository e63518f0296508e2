"""Putting many overrides of one call into one tensor, and the sessions that record and replace a single call."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from jaxtyping import Float
from torch import Tensor
from torch.utils._pytree import tree_map

from whence.core.attending import Rule, checked_weights
from whence.core.read_rows import Rows, take_rows
from whence.core.site import Attendance, AttentionSite, Call, Session, repeated


def repeat_batch(structure: Any, batch: int, copies: int, real: bool = True) -> Any:
    """Every tensor that has the batch as its first axis, or else its second, repeated along it.

    A first axis of one, in a batch of more, says that the tensor is the same for all (positions). Some models take
    views of what they are given, or write into it, and want `real` copies.
    """

    def copy(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor) or batch not in leaf.shape[:2]:
            return leaf
        axis = leaf.shape.index(batch)
        if axis == 1 and leaf.shape[0] == 1:
            return leaf
        many = repeated(leaf, copies, axis)
        return many.contiguous() if real else many

    return tree_map(copy, structure)


def repeat_call(call: Call, copies: int, first: int = 0) -> Call:
    """The call of a batch repeated `copies` times, counted from `first`; without the values, which are large."""
    return replace(
        call,
        weights=repeated(call.weights, copies),
        mask=repeated(call.mask, copies),
        scores=None if call.scores is None else repeated(call.scores, copies),
        values=None,
        copies=copies,
        first_copy=first,
    )


def call_of_rows(call: Call, rows: Rows) -> Call:
    """The call cut down to some queries."""
    n_query = call.weights.shape[2]
    parts = {name: take_rows(getattr(call, name), rows, n_query) for name in ("weights", "mask", "scores")}
    return replace(call, **parts, rows=rows, n_queries=n_query)


def as_queries(
    weights: Float[Tensor, "copies_batch head query key"], copies: int
) -> Float[Tensor, "batch head copies_query key"]:
    """Overrides that are copies of the batch, rearranged as queries."""
    return weights.unflatten(0, (copies, -1)).movedim(0, 2).flatten(2, 3)


class Recorder:
    """A session that keeps one call of a site, the `ordinal`-th, says when it comes, and counts all."""

    def __init__(self, ordinal: int, reached: Callable[[], None]) -> None:
        self.ordinal, self.reached = ordinal, reached
        self.call: Call | None = None
        self.count = 0

    def streams(self, site: AttentionSite) -> bool:
        """Not head by head: the call is kept whole."""
        return False

    def override(self, site: AttentionSite, call: Call) -> Call:
        """Nothing is replaced."""
        return call

    def watch(self, site: AttentionSite, call: Call) -> None:
        """Keep the call when its turn comes."""
        if self.count == self.ordinal:
            self.call = call
            self.reached()
        self.count += 1


class Once:
    """A session that replaces the weights of the next call, and of that alone; or hands over a `ready_context`, which
    an adopted site returns instead of computing it.
    """

    def __init__(self, weights: Tensor | None, ready_context: Tensor | None = None) -> None:
        self.weights, self.ready_context = weights, ready_context

    def streams(self, site: AttentionSite) -> bool:
        """Not head by head: the weights are given whole."""
        return False

    def override(self, site: AttentionSite, call: Call) -> Call:
        """The given weights, the first time."""
        weights, self.weights = self.weights, None
        return call if weights is None else replace(call, weights=weights, scores=None)

    def watch(self, site: AttentionSite, call: Call) -> None:
        """Nothing to see."""


class EachStep:
    """A session that overrides every step of a site, a call in `period`, as `like` describes it: what `attending` does,
    in as many copies of the batch.
    """

    def __init__(self, rule: Rule, like: Call, ordinal: int, period: int) -> None:
        self.rule, self.like = rule, like
        self.ordinal, self.period = ordinal, period
        self.count = 0
        self.on_graph = False

    def streams(self, site: AttentionSite) -> bool:
        """Not head by head: the rule sees whole calls."""
        return False

    def override(self, site: AttentionSite, call: Call) -> Call:
        """What the rule makes of this step."""
        step, ordinal = divmod(self.count, self.period)
        self.count += 1
        if ordinal != self.ordinal:
            return call
        like = self.like
        call = replace(call, site=like.site, step=step, copies=like.copies, first_copy=like.first_copy)
        weights = checked_weights(self.rule, call)
        self.on_graph = self.on_graph or weights.requires_grad
        return replace(call, weights=weights, scores=None)

    def watch(self, site: AttentionSite, call: Call) -> None:
        """Nothing to see."""


@contextmanager
def session_at(site: AttentionSite, session: Session) -> Iterator[None]:
    """A session at one site, for the length of a block."""
    with Attendance(session, [site]).entered():
        yield
