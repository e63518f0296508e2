"""A live table of a study's tasks in the terminal, with the time that the rest may take."""

import time
from collections.abc import Sequence
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from whence.auditing.run import describe_time
from whence.engine.schedule import Progress
from whence.studying.records import Records
from whence.studying.status import estimate, group, measured
from whence.studying.tasks import Task

SHOWN = 6  # running tasks, at most
EVERY = 1.0  # seconds between two tables


class LiveTable:
    """Watches a schedule; silent where the terminal shows nothing."""

    def __init__(self, tasks: Sequence[Task], records: Records, workers: int, silent: bool) -> None:
        self.tasks, self.records, self.workers = tasks, records, max(workers, 1)
        self.names = {task.key: task.name for task in tasks}
        self.known = measured(tasks, records)
        self._counted: set[str] = set()
        self._last = 0.0
        console = Console(stderr=True, quiet=silent)
        self._live = Live(console=console, auto_refresh=False, transient=not console.is_terminal)

    def __enter__(self) -> "LiveTable":
        self._live.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._live.__exit__(kind, error, at)

    def __call__(self, progress: Progress) -> None:
        """Show what stands, at most once a second and at the end."""
        ended = len(progress.outcomes) == progress.total
        if not ended and time.monotonic() - self._last < EVERY:
            return
        self._last = time.monotonic()
        if set(progress.outcomes) - self._counted:
            self._counted = set(progress.outcomes)
            self.known = measured(self.tasks, self.records)
        self._live.update(self.table(progress), refresh=True)

    def table(self, progress: Progress) -> Group:
        """The number of tasks of each group in each state, what runs now, and the time left."""
        table = Table(box=None, header_style="dim")
        for name in ("tasks", "done", "running", "failed", "waiting"):
            table.add_column(name, justify="left" if name == "tasks" else "right")
        states = {task.key: self.state(task.key, progress) for task in self.tasks}
        for name in dict.fromkeys(group(task) for task in self.tasks):
            found = [states[task.key] for task in self.tasks if group(task) == name]
            table.add_row(name, *(str(found.count(state)) for state in ("done", "running", "failed", "waiting")))
        now = time.monotonic()
        running = [
            Text(f"  {self.names[key]} ({now - began:.0f} s)", style="dim")
            for key, began in list(progress.running.items())[: min(SHOWN, self.workers)]
        ]
        return Group(table, *running, Text(self.time_left(progress)))

    def state(self, key: str, progress: Progress) -> str:
        """The state of one task."""
        if key in progress.outcomes:
            return "done" if progress.outcomes[key].state == "done" else "failed"
        return "running" if key in progress.running else "waiting"

    def time_left(self, progress: Progress) -> str:
        """A sentence on how much is done, and how long the rest may take."""
        rest = [task for task in self.tasks if task.key not in progress.outcomes]
        left = estimate(rest, self.known)
        done = f"{len(progress.outcomes)} of {progress.total} tasks"
        if not rest or left.unmeasured == len(rest):
            return done
        return f"{done}; about {describe_time(left.seconds / self.workers)} left on {self.workers} workers"
