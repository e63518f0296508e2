"""Gradient checkpointing: a layer that is run again during backward meets the same overrides and is not recorded twice.

Checkpointed layers run once forward and once more during backward, perhaps after the `attending` block has ended. The
second run must attend as the first did, or the gradient is silently wrong. Layers that checkpoint through an attribute
`_gradient_checkpointing_func`, as in transformers, are given a recomputation context that restores the session.

A session may ask for checkpointing itself (`attending(..., recompute=True)`): then the module around each site runs
again, or where heads can be computed one after another each head by itself, and no weights are kept for backward.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint, noop_context_fn

from whence.core.errors import CannotAttend
from whence.core.replaced import Replaced
from whence.core.scope import scopes_here
from whence.core.site import Attendance

FUNCTION = "_gradient_checkpointing_func"
PLAIN = (Tensor, int, float, str, slice, torch.dtype, torch.device)


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


def checkpointed(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, run again during backward, by whom it is attended now, rather than keeping what that needs.

    What it is given must not change when it runs: with a cache of keys and values, say, it runs once and all is kept.
    """

    def contexts() -> tuple[Any, Any]:
        forward, recompute = noop_context_fn()
        attending = {id(scope.session): scope.session for scope in scopes_here(Attendance)}.values()
        for session in attending:
            if isinstance(session, Resumable):
                recompute = _recompute_context(session, session.snapshot(), recompute)
        return forward, recompute

    def run(*args: Any, **kwargs: Any) -> Any:
        if not unchanging((args, kwargs)):
            return function(*args, **kwargs)
        return checkpoint(function, *args, use_reentrant=False, context_fn=contexts, **kwargs)

    return run


def unchanging(given: Any) -> bool:
    """Whether arguments are only tensors, numbers, words, and lists of these, which a function leaves as they were."""
    if isinstance(given, dict):
        return all(map(unchanging, given.values()))
    return (
        given is None or isinstance(given, PLAIN) or (isinstance(given, list | tuple) and all(map(unchanging, given)))
    )


@contextmanager
def modules_checkpointed(modules: Iterable[nn.Module]) -> Iterator[None]:
    """While the block lasts, the forward of these modules is checkpointed."""
    with Replaced(dict.fromkeys(modules, checkpointed)).entered():
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
