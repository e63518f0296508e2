"""The schedule: calls with what they depend on, each begun when it can be, retried with back-off, and reported."""

import heapq
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from whence.core.errors import BadConfig
from whence.engine.call import Call, Engine, Outcome

ATTEMPTS = 3
BACK_OFF = 1.0  # seconds before the second attempt; then four times as long each time
ASK_AGAIN = 1.0  # seconds until a call that another worker is running is tried again
LOOK = 0.5  # seconds between two looks of the watcher, at the longest


@dataclass(frozen=True)
class Job:
    """A call, the jobs whose results it needs, and those that must only have ended."""

    call: Call
    needs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its name, which no other job has."""
        return self.call.name


@dataclass(frozen=True)
class Progress:
    """What stands: outcomes of what ended, when what runs began, how often a job failed, and how many there are."""

    outcomes: Mapping[str, Outcome]
    running: Mapping[str, float]
    attempts: Mapping[str, int]
    total: int


Watch = Callable[[Progress], None]


class Schedule:
    """Jobs on an engine. `done` are names of jobs that need not run."""

    def __init__(
        self,
        jobs: Sequence[Job],
        engine: Engine,
        *,
        done: Sequence[str] = (),
        attempts: int = ATTEMPTS,
        back_off: float = BACK_OFF,
        watch: Watch = lambda progress: None,
    ) -> None:
        self.jobs = {job.name: job for job in jobs}
        refuse_impossible(self.jobs, done)
        self.engine, self.watch, self.attempts, self.back_off = engine, watch, attempts, back_off
        self.outcomes = {name: Outcome(name, "done") for name in done if name in self.jobs}
        self.failed: dict[str, int] = {}
        self.running: dict[str, float] = {}
        self._later: list[tuple[float, str]] = []
        self._open = [name for name in self.jobs if name not in self.outcomes]

    def run(self) -> dict[str, Outcome]:
        """Run all jobs; the outcome of each. Those that need a failed one do not run."""
        while len(self.outcomes) < len(self.jobs):
            self._begin()
            self.watch(Progress(self.outcomes, self.running, self.failed, len(self.jobs)))
            if not self.running and not self._later:
                continue
            outcome = self.engine.completed(self._patience())
            if outcome is not None:
                self._take(outcome)
        self.watch(Progress(self.outcomes, self.running, self.failed, len(self.jobs)))
        return self.outcomes

    def _begin(self) -> None:
        """Submit what can begin; few more than there are workers, so that what is ready first runs first."""
        now = time.monotonic()
        while self._later and self._later[0][0] <= now:
            self._open.insert(0, heapq.heappop(self._later)[1])
        for name in list(self._open):
            job = self.jobs[name]
            missing = [other for other in job.needs if other in self.outcomes and self.outcomes[other].state != "done"]
            if missing:
                self._open.remove(name)
                self.outcomes[name] = Outcome(name, "refused", error=f"not run, since {missing[0]} failed")
            elif len(self.running) < 2 * self.engine.workers and self._ready(job):
                self._open.remove(name)
                self.running[name] = now
                self.engine.submit(job.call)

    def _ready(self, job: Job) -> bool:
        return all(other in self.outcomes for other in (*job.needs, *job.after))

    def _patience(self) -> float:
        wake = self._later[0][0] - time.monotonic() if self._later else LOOK
        return min(max(wake, 0.0), LOOK)

    def _take(self, outcome: Outcome) -> None:
        """Note what became of a call: done, to be tried again, or given up."""
        name = outcome.name
        began = self.running.pop(name)
        if outcome.state == "busy":
            heapq.heappush(self._later, (time.monotonic() + ASK_AGAIN, name))
            return
        if outcome.state in ("failed", "died"):
            self.failed[name] = self.failed.get(name, 0) + 1
            if self.failed[name] < self.attempts:
                wait = self.back_off * 4 ** (self.failed[name] - 1)
                heapq.heappush(self._later, (time.monotonic() + wait, name))
                return
        took = outcome.seconds or time.monotonic() - began
        self.outcomes[name] = replace(outcome, seconds=took)


def refuse_impossible(jobs: Mapping[str, Job], done: Sequence[str]) -> None:
    """Refuse jobs that wait for one that is not there, or for each other."""
    ready, rest = set(done), [name for name in jobs if name not in done]
    unknown = {other for job in jobs.values() for other in (*job.needs, *job.after)} - set(jobs) - ready
    if unknown:
        raise BadConfig(f"a task depends on {sorted(unknown)[0]}, which is not among the tasks")
    while rest:
        free = [name for name in rest if ready.issuperset((*jobs[name].needs, *jobs[name].after))]
        if not free:
            raise BadConfig(f"these tasks wait for each other: {', '.join(rest[:5])}")
        ready.update(free)
        rest = [name for name in rest if name not in ready]
