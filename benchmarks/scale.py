"""Studies at scale: how much two workers gain over one, what a task costs beyond its work, and twenty kills.

*Gain*: eight equal trainings, by one worker and by two, each process of one thread. *Overhead*: 200 calls that do
nothing, after the workers have started; so many milliseconds each. *Kills*: a study whose driver is killed (kill -9) at
twenty random moments and resumed each time; its tables are compared with those of an uninterrupted run, and the journal
is asked whether a task ended more than once.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from whence.engine.call import Call, Engine
from whence.engine.local import LocalEngine
from whence.engine.ray_cluster import RayEngine
from whence.engine.schedule import Job, Schedule
from whence.studying.grid import read_grid
from whence.studying.records import Records
from whence.studying.run import run_study
from whence.studying.tasks import plan

TRAININGS, CALLS, KILLS = 8, 200, 20
STUDY = """
name = "equal"
seeds = {seeds}
[training]
epochs = {epochs}
patience = {epochs}
limit = {limit}
[models.lstm]
training = {{ model = "additive" }}
[data.reviews]
{runs}
"""
RUNS = "[runs.score]\noptions = { limit = 40 }\n[runs.ablation]\noptions = { limit = 40 }"


def report() -> str:
    with tempfile.TemporaryDirectory() as folder:
        parts = [gain(Path(folder)), overhead(), kills(Path(folder))]
    return "\n\n".join(parts)


def study(folder: Path, **values: object) -> Path:
    file = folder / f"study-{time.monotonic_ns()}.toml"
    file.write_text(STUDY.format(**values))
    return file


def gain(folder: Path) -> str:
    """Wall time of equal trainings by one worker and by two, once each."""
    grid = read_grid(study(folder, seeds=TRAININGS, epochs=6, limit=2000, runs=""))
    tasks, seconds = plan(grid), {}
    for workers in (1, 2):
        engine = LocalEngine(workers)
        warm(engine)
        began = time.perf_counter()
        run_study(grid, tasks, folder / f"by-{workers}", engine)
        seconds[workers] = time.perf_counter() - began
    ratio = seconds[1] / seconds[2]
    kept = "yes" if ratio >= 1.7 else "no"
    rows = [f"| {n} | {one:.1f} s |" for n, one in seconds.items()]
    return "\n".join(["| workers | eight trainings |", "|---|---|", *rows, "", f"Gain: {ratio:.2f}× (≥ 1.7: {kept})."])


def warm(engine: Engine) -> None:
    """Start all workers and let them import what a task needs."""
    for number in range(engine.workers):
        engine.submit(Call(str(number), "benchmarks.scale:imported"))
    for _ in range(engine.workers):
        while engine.completed(60.0) is None:
            pass


def imported() -> None:
    import whence.studying.perform  # noqa: F401

    time.sleep(0.5)  # so that each worker gets one


def overhead() -> str:
    """Milliseconds per call that does nothing, with two workers."""
    rows = []
    for name, limit, engine in (("local", 50, LocalEngine(2)), ("ray", 150, RayEngine(None, 2))):
        try:
            warm(engine)
            jobs = [Job(Call(f"call {n}", "builtins:dict")) for n in range(CALLS)]
            began = time.perf_counter()
            Schedule(jobs, engine).run()
            each = 1000 * (time.perf_counter() - began) / CALLS
        finally:
            engine.close()
        rows.append(f"| {name} | {each:.1f} ms | {limit} ms | {'yes' if each <= limit else 'no'} |")
    return "\n".join(["| engine | per call | limit | kept |", "|---|---|---|---|", *rows])


def kills(folder: Path) -> str:
    """Twenty kills at random moments, and what came of it."""
    file = study(folder, seeds=4, epochs=3, limit=400, runs=RUNS)
    grid = read_grid(file)
    tasks = plan(grid)
    run_study(grid, tasks, folder / "whole", LocalEngine(2))
    command = [sys.executable, "-m", "whence", "study", str(file), "--out", str(folder / "killed"), "--workers", "2"]
    rng, done = random.Random(0), []
    for _ in range(KILLS):
        driver = subprocess.Popen([*command, "--quiet"], stdout=subprocess.DEVNULL)
        time.sleep(4 + rng.uniform(0, 8))
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        done.append(sum(line["event"] == "ended" for line in Records(folder / "killed").journal()))
    time.sleep(1)
    run_study(grid, tasks, folder / "killed", LocalEngine(2))
    ended = Counter(line["task"] for line in Records(folder / "killed").journal() if line["event"] == "ended")
    equal = tables(folder / "whole") == tables(folder / "killed")
    twice = sum(n > 1 for n in ended.values())
    reached = ", ".join(map(str, done))
    return (
        f"{KILLS} kills of a study of {len(tasks)} tasks (tasks done at each kill: {reached}): tables equal to the"
        f" uninterrupted run: {'yes' if equal else 'no'}; tasks done twice: {twice}."
    )


def tables(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in out.glob("results/*/*/table.parquet")}


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print(report())
