"""One thread per model that does its work in turn, so that what one request does to a model never meets another's.

Requests wait in a bounded queue. Long work comes as a generator, and is done a step at a time in between, so that
nobody waits for its end; a step leaves nothing open in the model.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

from whence.core.errors import WhenceError

WAITING = 64  # requests, at most
Answer = TypeVar("Answer")


class Busy(WhenceError, RuntimeError):
    """The queue is full."""


class Cancelled(WhenceError, RuntimeError):
    """Nobody waits for this any more."""


class Ticket:
    """A piece of work that was asked for: its outcome is in `future`, and `cancel` says that nobody wants it."""

    def __init__(self, work: Callable[["Ticket"], Any]) -> None:
        self.work, self.future, self._unwanted = work, Future[Any](), threading.Event()

    def cancel(self) -> None:
        """Let it stop at the next `check`; if it has not begun, it never will."""
        self._unwanted.set()

    def check(self) -> None:
        """Stop here, if nobody wants the outcome."""
        if self._unwanted.is_set():
            raise Cancelled("nobody waits for this any more")

    def run(self) -> None:
        """Do the work, unless it was cancelled."""
        try:
            self.check()
            self.future.set_result(self.work(self))
        except BaseException as error:  # whatever it is, it belongs to whoever waits
            self.future.set_exception(error)


class Worker:
    """The thread of one model."""

    def __init__(self, name: str, waiting: int = WAITING) -> None:
        self.waiting, self._asked, self._long = waiting, deque[Ticket](), deque[Iterator[Any]]()
        self._changed, self._ended = threading.Condition(), False
        self._thread = threading.Thread(target=self._loop, name=f"whence {name}", daemon=True)
        self._thread.start()

    def ask(self, work: Callable[[Ticket], Any]) -> Ticket:
        """Put work into the queue; an error if it is full."""
        ticket = Ticket(work)
        with self._changed:
            if self._ended:
                raise Busy("the workbench is closing")
            if len(self._asked) >= self.waiting:
                raise Busy(f"{self.waiting} requests are waiting already; try again in a moment")
            self._asked.append(ticket)
            self._changed.notify()
        return ticket

    def steps(self, work: Iterator[Any]) -> None:
        """Do long work step by step, in between."""
        with self._changed:
            self._long.append(work)
            self._changed.notify()

    def close(self) -> None:
        """End after the present step; what waits is cancelled."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        self._thread.join(timeout=10)
        for ticket in self._asked:
            ticket.cancel()
            ticket.run()
        for work in self._long:
            work.close()  # type: ignore[attr-defined]

    def _loop(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._asked or self._long or self._ended)
                if self._ended:
                    return
                ticket = self._asked.popleft() if self._asked else None
                work = self._long.popleft() if self._long else None
            if ticket is not None:
                ticket.run()
            if work is not None and next(work, self) is not self:
                with self._changed:
                    self._long.append(work)
