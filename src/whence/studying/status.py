"""What stands of a study: which tasks are done, running, failed or waiting, and how long the rest may take."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import pandas as pd

from whence.core.errors import BadData
from whence.studying.grid import Grid
from whence.studying.records import Records
from whence.studying.tasks import Task

STATES = ("done", "running", "failed", "waiting")
ROUGH = {"train": 60.0, "shard": 20.0, "run": 30.0}  # CPU seconds of a task of which nothing like it was run yet


@dataclass(frozen=True)
class Estimate:
    """CPU seconds that tasks may take, and for how many of them nothing like them has been measured."""

    seconds: float
    unmeasured: int


def read_plan(out: Path, name: str) -> tuple[Grid, list[Task]]:
    """A study that was begun in a folder, with its tasks."""
    path = out / "studies" / f"{name}.json"
    if not path.is_file():
        there = ", ".join(sorted(file.stem for file in path.parent.glob("*.json"))) or "none"
        raise BadData(f"no study {name} was begun in {out} (there: {there}); run `whence study FILE.toml --out {out}`")
    saved = json.loads(path.read_text(encoding="utf-8"))
    return Grid(**saved["study"]), [_task(one) for one in saved["tasks"]]


def _task(saved: Mapping[str, Any]) -> Task:
    shard = saved["shard"] and (saved["shard"][0], saved["shard"][1])
    lists = {name: tuple(saved[name]) for name in ("needs", "content")}
    plain: dict[str, Any] = {name: saved[name] for name in ("kind", "options", "experiment", "about")}
    return Task(**{**plain, **lists, "shard": shard})


def states(tasks: Iterable[Task], records: Records) -> dict[str, str]:
    """The state of every task by its key."""
    found = {}
    for task in tasks:
        if records.done(task.key):
            found[task.key] = "done"
        elif records.is_running(task.key):
            found[task.key] = "running"
        else:
            found[task.key] = "failed" if records.failure(task.key) else "waiting"
    return found


def group(task: Task) -> str:
    """What tasks are counted together by: trainings of a model, or runs of one name."""
    return f"train {task.about['model']}" if task.kind == "train" else f"{task.kind} {task.about['run']}"


def counts(tasks: Sequence[Task], found: Mapping[str, str]) -> pd.DataFrame:
    """The number of tasks of each group in each state."""
    rows = [{"tasks": group(task), "state": found[task.key]} for task in tasks]
    table = pd.crosstab(pd.DataFrame(rows)["tasks"], pd.DataFrame(rows)["state"])
    order = list(dict.fromkeys(row["tasks"] for row in rows))
    return table.reindex(index=order, columns=list(STATES), fill_value=0).reset_index().rename_axis(columns=None)


def measured(tasks: Iterable[Task], records: Records) -> dict[tuple[str, ...], float]:
    """Mean CPU seconds of finished tasks: of each group on each corpus, of each group, and of each kind."""
    seconds: dict[tuple[str, ...], list[float]] = {}
    for task in tasks:
        record = records.done(task.key)
        if record is not None:
            for like in _alike(task):
                seconds.setdefault(like, []).append(record["cpu_seconds"])
    return {like: mean(values) for like, values in seconds.items()}


def estimate(tasks: Iterable[Task], known: Mapping[tuple[str, ...], float]) -> Estimate:
    """What tasks may take, by the most alike that was measured."""
    total, unmeasured = 0.0, 0
    for task in tasks:
        nearest = next((known[like] for like in _alike(task) if like in known), None)
        total += ROUGH[task.kind] if nearest is None else nearest
        unmeasured += nearest is None
    return Estimate(total, unmeasured)


def _alike(task: Task) -> tuple[tuple[str, ...], ...]:
    whole = (group(task), str(task.about["model"]), str(task.about["data"]))
    return whole, whole[:2], whole[:1], (task.kind,)


def as_dict(grid: Grid, tasks: Sequence[Task], records: Records) -> dict[str, Any]:
    """The state of a study as plain values."""
    found = states(tasks, records)
    rest = [task for task in tasks if found[task.key] != "done"]
    left = estimate(rest, measured(tasks, records))
    failed = [
        {"task": task.name, **{name: failure[name] for name in ("error", "command", "attempts")}}
        for task in tasks
        if found[task.key] == "failed" and (failure := records.failure(task.key))
    ]
    return {
        "study": grid.name,
        "tasks": len(tasks),
        **{state: sum(one == state for one in found.values()) for state in STATES},
        "groups": counts(tasks, found).to_dict("records"),
        "cpu_hours_left": round(left.seconds / 3600, 4),
        "unmeasured": left.unmeasured,
        "models": len({(task.about["model"], task.about["data"], task.about["seed"]) for task in tasks}),
        "failures": failed,
    }
