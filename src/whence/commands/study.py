"""`whence study FILE.toml`: a grid of models, data, seeds and experiments, run on one machine or a cluster."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional

from whence.commands._shared import HERE, Output, parsed, quieten
from whence.engine.engines import EngineName
from whence.options import usually

if TYPE_CHECKING:
    from whence.studying.run import StudyOutcome


@dataclass(frozen=True)
class Where:
    """Which study, and where its models and results are."""

    study: Positional[Path]
    """study file (.toml)"""
    out: Path = Path("whence-results")
    """folder for models and results; what is there is not computed again"""
    data_dir: Annotated[Path | None, usually("$WHENCE_DATA", "PATH")] = None
    """folder with the native corpora"""


@dataclass(frozen=True)
class Options:
    """Run a study: every model on every corpus from every seed, and the experiments on them. `whence study status FILE`
    says what stands. A task that fails is retried and then reported with its command; the others go on.
    """

    where: Annotated[Where, HERE]
    engine: EngineName = "local"
    """local: processes of one thread each on this machine; ray: a Ray cluster; slurm: jobs of a Slurm cluster"""
    workers: Annotated[int | None, usually("one per processor; 64 jobs of slurm", "INT")] = None
    """tasks that run at the same time"""
    address: Annotated[str | None, usually("auto", "auto|new|HOST:PORT|ray://…")] = None
    """Ray cluster: auto is the one of this machine, new starts one here"""
    device: Annotated[str | None, usually("as the study says, else cpu", "auto|cpu|cuda|cuda:1|mps")] = None
    """where models are trained and run; of several CUDA devices, each worker of this machine gets one"""
    partition: Annotated[str, usually("the cluster's own", "NAME")] = ""
    """Slurm partition"""
    attempts: int = 3
    """times that a task is tried before it is given up"""
    resume: bool = True
    """take up what an earlier run left (--no-resume: refuse a folder with finished tasks of this study)"""
    dry_run: bool = False
    """only print the plan: tasks, what is done already, estimated CPU hours"""
    output: Annotated[Output, HERE] = field(default_factory=Output)


@dataclass(frozen=True)
class StatusOptions:
    """What stands of a study: tasks done, running, failed and waiting, and CPU hours left."""

    where: Annotated[Where, HERE]
    json: bool = False
    """print one JSON object and nothing else"""


def command(arguments: list[str]) -> int:
    """`whence study FILE.toml --workers 4`, `whence study status FILE.toml`; exit code 1 if a task failed."""
    if arguments[:1] == ["status"]:
        return status(parsed(StatusOptions, "study status", arguments[1:]))
    options = parsed(Options, "study", arguments)
    from whence.studying.grid import read_grid

    grid = read_grid(options.where.study)
    quieten()
    from whence.studying import status as state
    from whence.studying.records import Records
    from whence.studying.tasks import plan

    tasks, records = plan(grid, data_dir=options.where.data_dir, device=options.device), Records(options.where.out)
    if options.dry_run:
        found = state.as_dict(grid, tasks, records)
        print(json.dumps(found, ensure_ascii=False, indent=1) if options.output.json else described(found))
        return 0
    from whence.engine.engines import engine_named
    from whence.studying.progress import LiveTable
    from whence.studying.run import run_study
    from whence.subject.devices import environments

    engine = engine_named(
        options.engine,
        options.workers,
        address=options.address,
        folder=options.where.out,
        partition=options.partition,
        environments=environments(options.device or "cpu"),
    )
    with LiveTable(tasks, records, engine.workers, options.output.silent) as watch:
        outcome = run_study(
            grid, tasks, options.where.out, engine, resume=options.resume, attempts=options.attempts, watch=watch
        )
    if options.output.json:
        print(json.dumps({"out": str(options.where.out), **asdict(outcome)}, ensure_ascii=False, indent=1))
    else:
        print(summary(outcome, options.where.out))
    return 0 if outcome.complete else 1


def status(options: StatusOptions) -> int:
    """Print what stands of a study."""
    from whence.studying.grid import read_grid
    from whence.studying.records import Records
    from whence.studying.status import as_dict, read_plan

    grid, tasks = read_plan(options.where.out, read_grid(options.where.study).name)
    found = as_dict(grid, tasks, Records(options.where.out))
    print(json.dumps(found, ensure_ascii=False, indent=1) if options.json else described(found))
    return 0


def described(found: dict[str, Any]) -> str:
    """The state of a study for the terminal."""
    import pandas as pd

    left = found["tasks"] - found["done"]
    lines = [f"{found['study']}: {found['tasks']} tasks on {found['models']} models, {found['done']} done."]
    lines += ["", pd.DataFrame(found["groups"]).to_string(index=False), ""]
    hours = found["cpu_hours_left"]
    rough = (
        f"; rough for {found['unmeasured']} tasks, since nothing like them was run yet" if found["unmeasured"] else ""
    )
    lines += [f"The {left} tasks that are left need about {hours:.2g} CPU hours{rough}."] if left else []
    for failure in found["failures"]:
        lines += [f"FAILED {failure['task']}: {failure['error']}", f"  {failure['command']}"]
    return "\n".join(lines)


def summary(outcome: "StudyOutcome", out: Path) -> str:
    """What became of a study, for the terminal."""
    lines = [f"{outcome.done} tasks done, {outcome.before} were done before, {len(outcome.failures)} failed."]
    for failure in outcome.failures:
        tried = f" (tried {failure.attempts} times)" if failure.attempts > 1 else ""
        lines += [f"FAILED {failure.task}{tried}: {failure.error}", f"  {failure.command}"]
    return "\n".join([*lines, f"Results: {out}"])
