"""A study that is run, killed and resumed: every task once, the same tables whatever happened on the way."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from support.command import whence
from support.scale.grids import as_toml, small_grid, write_table
from support.shared import once
from whence.cli import main
from whence.core.errors import BadConfig
from whence.engine.here import HereEngine
from whence.studying.records import Records
from whence.studying.run import run_study
from whence.studying.tasks import plan

KILLS = 3


def table() -> Path:
    return once("study-table.csv", write_table)


def run(out, grid=None, **options):
    grid = grid or small_grid(table())
    return run_study(grid, plan(grid), out, HereEngine(), back_off=0.001, **options)


def uninterrupted() -> Path:
    """The study, run once without interruption."""
    return once("study-uninterrupted", lambda folder: run(folder))


def tables(out: Path) -> dict[str, bytes]:
    """The content of every result, by its place."""
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.glob("results/*/*/table.parquet"))}


def ended(out: Path) -> Counter:
    return Counter(line["task"] for line in Records(out).journal() if line["event"] == "ended")


def test_every_task_is_done_once():
    out, tasks = uninterrupted(), plan(small_grid(table()))
    assert ended(out) == Counter(task.key for task in tasks)
    assert len(tables(out)) == 8
    assert all(Records(out).done(task.key) for task in tasks)
    assert not list((out / "claims").iterdir())


def test_what_is_done_is_not_done_again(tmp_path):
    out = uninterrupted()
    before = ended(out)
    outcome = run(out)
    assert (outcome.before, outcome.done, outcome.failures) == (12, 0, ())
    assert ended(out) == before


def test_without_resume_a_begun_study_is_refused():
    with pytest.raises(BadConfig, match="has 12 finished tasks of this study"):
        run(uninterrupted(), resume=False)


def test_a_failure_is_reported_with_its_command_and_the_rest_goes_on(tmp_path):
    models = {"lstm": {"training": {"model": "additive", "encoder": "lstm"}}}
    grid = small_grid(table(), seeds=1, runs={"ablation": {}, "alignment": {}}, models=models)  # of a translator alone
    outcome = run(tmp_path, grid)
    assert outcome.done == 2
    (failure,) = outcome.failures
    assert failure.task == "alignment of lstm on few, seed 0"
    assert "have no reference links" in failure.error
    assert failure.command.startswith("whence run alignment --data ")
    with pytest.raises(SystemExit) as stopped:
        main(failure.command.split()[1:])
    assert stopped.value.code == 2  # the same refusal, alone
    saved = Records(tmp_path).failure(next(task.key for task in plan(grid) if task.experiment == "alignment"))
    assert saved["error"] == failure.error
    assert "Traceback" in saved["trace"]


def test_killed_at_random_moments_it_ends_with_the_same_tables(tmp_path):
    file = as_toml(small_grid(table()), tmp_path / "study.toml")
    command = [sys.executable, "-m", "whence", "study", str(file), "--out", str(tmp_path / "out"), "--workers", "2"]
    rng = random.Random(os.getpid())
    lines = sorted(rng.sample(range(1, 22), KILLS))
    for wanted in lines:
        driver = subprocess.Popen([*command, "--quiet"], stdout=subprocess.DEVNULL)
        while driver.poll() is None and len(Records(tmp_path / "out").journal()) < wanted:
            time.sleep(0.01)
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    _wait_for_the_end_of_workers(tmp_path / "out")
    outcome = run(tmp_path / "out")
    assert outcome.complete
    assert tables(tmp_path / "out") == tables(uninterrupted()), lines
    assert set(ended(tmp_path / "out").values()) == {1}, lines


def _wait_for_the_end_of_workers(out: Path) -> None:
    """Workers leave when the driver is gone; then their claims have lapsed."""
    for claim in (out / "claims").iterdir():
        while Records(out).is_running(claim.name):
            time.sleep(0.01)


def test_the_commands(tmp_path, capsys):
    file, out = as_toml(small_grid(table()), tmp_path / "study.toml"), uninterrupted()
    planned = json.loads(whence(capsys, "study", file, "--out", tmp_path / "new", "--dry-run", "--json").out)
    assert (planned["tasks"], planned["done"], planned["models"]) == (12, 0, 4)
    assert planned["unmeasured"] == 12
    assert not (tmp_path / "new").exists()
    stands = json.loads(whence(capsys, "study", "status", file, "--out", out, "--json").out)
    assert (stands["done"], stands["failed"], stands["cpu_hours_left"]) == (12, 0, 0)
    assert "12 tasks on 4 models, 12 done" in whence(capsys, "study", "status", file, "--out", out).out
    again = json.loads(whence(capsys, "study", file, "--out", out, "--json").out)
    assert (again["before"], again["done"], again["failures"]) == (12, 0, [])
    nowhere = whence(capsys, "study", "status", file, "--out", tmp_path)
    assert (nowhere.code, "no study small was begun" in nowhere.err) == (2, True)
