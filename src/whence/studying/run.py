"""Running a study: its tasks on an engine, what is finished skipped, what fails reported with its command."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from whence.core.errors import BadConfig
from whence.engine.call import Call, Engine, Outcome, Resources
from whence.engine.schedule import ATTEMPTS, BACK_OFF, Job, Progress, Schedule
from whence.results.atomic_write import saving, write_json
from whence.studying.commands import command_of
from whence.studying.grid import Grid
from whence.studying.records import Records
from whence.studying.tasks import Task

RUN_TASK = "whence.studying.perform:run_task"
Watch = Callable[[Progress], None]


@dataclass(frozen=True)
class Failure:
    """A task that was given up: what it was, why, and the command that does it alone."""

    task: str
    error: str
    command: str
    attempts: int


@dataclass(frozen=True)
class StudyOutcome:
    """How many tasks were done before and now, and those that failed."""

    before: int
    done: int
    failures: tuple[Failure, ...]

    @property
    def complete(self) -> bool:
        """Whether every task is done."""
        return not self.failures


def run_study(
    grid: Grid,
    tasks: Sequence[Task],
    out: Path,
    engine: Engine,
    *,
    resume: bool = True,
    attempts: int = ATTEMPTS,
    back_off: float = BACK_OFF,
    watch: Watch = lambda progress: None,
) -> StudyOutcome:
    """Run all tasks that are not done; the engine is closed in the end, however it ends."""
    records = Records(out)
    done = [task.key for task in tasks if records.done(task.key)]
    if done and not resume:
        raise BadConfig(f"{out} has {len(done)} finished tasks of this study; leave out --no-resume to go on with it")
    with saving(out):
        write_plan(grid, tasks, out)
    jobs = [job_of(task, grid, out) for task in tasks]
    schedule = Schedule(jobs, engine, done=done, attempts=attempts, back_off=back_off, watch=watch)
    try:
        outcomes = schedule.run()
    finally:
        engine.close()
    failures = [
        failure_of(task, outcomes[task.key], schedule.failed.get(task.key, 0), records)
        for task in tasks
        if outcomes[task.key].state != "done"
    ]
    return StudyOutcome(len(done), len(tasks) - len(done) - len(failures), tuple(failures))


def job_of(task: Task, grid: Grid, out: Path) -> Job:
    """A task as a call that any engine can make."""
    needed = grid.resources.train if task.kind == "train" else grid.resources.run
    arguments = {"task": asdict(task), "root": str(out.resolve())}
    call = Call(task.key, RUN_TASK, arguments, Resources(needed.cpus, needed.gpus, needed.memory))
    return Job(call, needs=task.needs)


def failure_of(task: Task, outcome: Outcome, failed: int, records: Records) -> Failure:
    """A task that failed, recorded with its error and the command that does it alone."""
    record: dict[str, Any] = {
        "task": task.name,
        "error": outcome.error,
        "command": command_of(task, records),
        "attempts": failed or int(bool(outcome.trace)),
        "trace": outcome.trace,
    }
    records.write_failure(task.key, record)
    return Failure(record["task"], record["error"], record["command"], record["attempts"])


def write_plan(grid: Grid, tasks: Sequence[Task], out: Path) -> None:
    """Keep the study and its tasks in the folder, so that `whence study status` and `whence compare` find them."""
    folder = out / "studies"
    folder.mkdir(parents=True, exist_ok=True)
    listed = [{"key": task.key, **asdict(task)} for task in tasks]
    write_json(folder / f"{grid.name}.json", {"study": grid.model_dump(mode="json"), "tasks": listed})
