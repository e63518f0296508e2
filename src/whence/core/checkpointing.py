"""Gradient checkpointing: a layer that is run again during backward meets the same overrides and is not recorded twice.

Checkpointed layers run once forward and once more during backward, perhaps after the `attending` block has ended. The
second run must attend as the first did, or the gradient is silently wrong. Layers that checkpoint through an attribute
`_gradient_checkpointing_func`, as in transformers, are given a recomputation context that restores the session.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from typing import Any, Protocol, runtime_checkable

from torch import nn
from torch.utils.checkpoint import noop_context_fn

from whence.core.errors import CannotAttend
from whence.core.replaced import Replaced

FUNCTION = "_gradient_checkpointing_func"


@runtime_checkable
class Resumable(Protocol):
    """A session that can be taken back to an earlier state and entered again."""

    recording: bool
    recomputing: bool

    def active(self) -> AbstractContextManager[None]: ...
    def snapshot(self) -> Callable[[], None]: ...


@contextmanager
def recomputing(model: nn.Module, session: Resumable) -> Iterator[None]:
    """While the block lasts, layers that checkpoint take the session with them into their recomputation."""
    layers = [module for module in model.modules() if FUNCTION in module.__dict__]
    with Replaced(dict.fromkeys(layers, partial(_with_session, session)), FUNCTION).entered():
        yield


def _with_session(session: Resumable, function: Any) -> Callable[..., Any]:
    options = function.keywords if isinstance(function, partial) else {}
    if options.get("use_reentrant", True):
        return _refuse_reentrant
    already = options.get("context_fn", noop_context_fn)

    def contexts() -> tuple[Any, Any]:
        forward, recompute = already()
        return forward, _recompute_context(session, session.snapshot(), recompute)

    return partial(function, context_fn=contexts)


def _refuse_reentrant(*args: Any, **kwargs: Any) -> Any:
    raise CannotAttend(
        "this model checkpoints with use_reentrant=True, whose second run cannot be attended; call"
        ' model.gradient_checkpointing_enable({"use_reentrant": False})'
    )


@contextmanager
def _recompute_context(
    session: Resumable, restore: Callable[[], None], inner: AbstractContextManager[Any]
) -> Iterator[None]:
    """The state of the first run, without recording; afterwards the present state again."""
    restore_present, was_recording, was_recomputing = session.snapshot(), session.recording, session.recomputing
    with ExitStack() as stack:
        stack.enter_context(inner)
        try:
            restore()
            session.recording, session.recomputing = False, True
            stack.enter_context(session.active())
            yield
        finally:
            restore_present()
            session.recording, session.recomputing = was_recording, was_recomputing
