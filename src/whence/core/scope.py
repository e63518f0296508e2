"""Scopes: what is active in one thread or task, and nowhere else.

Whoever attends to a model, replays it or probes it opens a scope. Open scopes are kept in a context variable, so a
thread or an asyncio task sees those that it opened itself, or inherited from the task that started it. Nothing that is
stored in a model has an effect outside its scope.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Undo = Callable[[], None]
Kind = TypeVar("Kind", bound="Scope")


class Scope:
    """A block of code, in the thread or task that opened it."""

    def __init__(self) -> None:
        self.open = False

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Open for the length of a `with` block."""
        with undone(self.close):
            self.begin()
            yield

    def begin(self) -> None:
        """Open, here."""
        self.open = True
        ANYWHERE.append(self)
        HERE.set((*HERE.get(), self))

    def close(self) -> None:
        """Close, everywhere; may be called twice, and from another thread."""
        self.open = False
        HERE.set(tuple(scope for scope in HERE.get() if scope is not self))
        if self in ANYWHERE:
            ANYWHERE.remove(self)

    @property
    def here(self) -> bool:
        """Whether it is open in this thread or task."""
        return self.open and any(scope is self for scope in HERE.get())


HERE: ContextVar[tuple[Scope, ...]] = ContextVar("scopes of whence", default=())
ANYWHERE: list[Scope] = []  # the open scopes of all threads: a plain list, which torch.compile can guard on


def scopes_here(kind: type[Kind]) -> list[Kind]:
    """The open scopes of a class in this thread or task, outermost first."""
    return [scope for scope in HERE.get() if isinstance(scope, kind) and scope.open]


@contextmanager
def undone(undo: Undo) -> Iterator[None]:
    """Call `undo` after a block; it is called twice, so that Ctrl-C inside the first call leaves nothing behind."""
    try:
        try:
            yield
        finally:
            undo()
    finally:
        undo()
