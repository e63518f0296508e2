"""Long work that is watched: progress, messages and the outcome as a list of events that any number of clients read."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, Literal

from whence.core.errors import BadConfig, WhenceError

LOG = logging.getLogger(__name__)
KEPT = 100  # finished jobs
UNWATCHED = 20.0  # seconds without a watcher, after which work that only a watcher wants is cancelled
Kind = Literal["progress", "message", "result", "error", "cancelled"]
FINAL = ("result", "error", "cancelled")


@dataclass(frozen=True)
class Event:
    """Something that happened in a job."""

    kind: Kind
    data: dict[str, Any]


@dataclass(eq=False)
class Job:
    """Work in progress and its events; `events` only grows."""

    name: str
    about: dict[str, Any]
    stop: Callable[[], None]
    tied: bool = True  # only wanted while somebody watches
    id: str = field(default_factory=lambda: token_hex(8))
    events: list[Event] = field(default_factory=list)
    started: float = field(default_factory=time.time)
    watchers: int = 0
    unwatched_since: float = field(default_factory=time.monotonic)

    @property
    def finished(self) -> bool:
        """Whether nothing more will happen."""
        return bool(self.events) and self.events[-1].kind in FINAL

    def tell(self, kind: Kind, **data: Any) -> None:
        """Add an event, unless the job has ended."""
        if not self.finished:
            self.events.append(Event(kind, data))

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        last = self.events[-1] if self.events else None
        state = last.kind if last and self.finished else "running"
        return {"job": self.id, "name": self.name, "state": state, "started": self.started, "about": self.about}

    @property
    def abandoned(self) -> bool:
        """Whether nobody has watched it for a while, though it is only wanted while watched."""
        return (
            self.tied
            and not self.finished
            and self.watchers == 0
            and time.monotonic() - self.unwatched_since > UNWATCHED
        )


class Jobs:
    """All jobs, the oldest first."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def add(self, job: Job) -> Job:
        """Keep a job; the oldest finished ones are forgotten."""
        with self._lock:
            self._jobs[job.id] = job
            finished = [one for one in self._jobs.values() if one.finished]
            for old in finished[: max(0, len(finished) - KEPT)]:
                del self._jobs[old.id]
        return job

    def get(self, number: str) -> Job:
        """A job by its number."""
        if number not in self._jobs:
            raise UnknownJob(f"there is no job {number!r}; it may have ended long ago")
        return self._jobs[number]

    def all(self) -> list[Job]:
        """Every job that is known."""
        with self._lock:
            return list(self._jobs.values())

    def close(self) -> None:
        """Stop what is under way."""
        for job in self.all():
            if not job.finished:
                job.stop()


class UnknownJob(BadConfig, KeyError):
    """A job was asked for that is not there."""

    def __str__(self) -> str:
        return str(self.args[0])


class Stopped(threading.Event):
    """Set when a job is to stop."""


def stepwise(job: Job, stopped: Stopped, work: Iterator[dict[str, Any]]) -> Iterator[None]:
    """The steps of a job for a worker: what `work` yields is progress, and the last of it is the result."""
    last: dict[str, Any] = {}
    try:
        for last in work:
            if stopped.is_set() or job.abandoned:
                job.tell("cancelled")
                return
            if "result" not in last:
                job.tell("progress", **last)
            yield
        job.tell("result", **last.get("result", {}))
    except WhenceError as error:
        job.tell("error", error=str(error))
    except Exception as error:  # a watcher must learn that the work has ended, whatever ended it
        LOG.exception("the job %s failed", job.name)
        job.tell("error", error=f"{type(error).__name__}: {error}")
    finally:
        work.close()  # type: ignore[attr-defined]
        job.tell("cancelled")
