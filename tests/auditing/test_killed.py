"""An audit that is killed, or stopped by the user, goes on where it was: nothing lost, nothing computed twice."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support import saved_models
from whence.cli import main
from whence.results.stale_folders import temporary_name

SLOW = """
import sys, time
from dataclasses import replace
from whence.cli import main
from whence.experiments import permutation
permutation.EXPERIMENT = replace(permutation.EXPERIMENT, run=lambda *_: time.sleep(600))
main()
"""


def arguments(out: Path) -> list[str]:
    model, data = saved_models.bert(), saved_models.labelled()
    return [str(word) for word in ("audit", model, data, *saved_models.AUDIT_OPTIONS, "--quiet", "--out", out)]


def finished(out: Path) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments(out))
    assert stopped.value.code == 0


@pytest.fixture(scope="module")
def uninterrupted() -> Path:
    """The same audit, left alone."""
    return saved_models.audited()


@pytest.fixture(autouse=True)
def no_files_of_figures(uninterrupted, monkeypatch):
    monkeypatch.setattr("whence.auditing.write_report.save", lambda *_: [])


def first_result(out: Path) -> Path:
    """The first result's folder, waited for."""
    for _ in range(1200):
        found = [path for path in out.glob("results/ablation/*") if not path.name.startswith(".")]
        if found:
            return found[0]
        time.sleep(0.05)
    raise AssertionError("no result came")


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(folder.iterdir())}


def tables(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.glob("results/*/*/*.parquet"))}


def stopped_by(how: signal.Signals, process: "subprocess.Popen[bytes]") -> bytes:
    """What a process says when it is stopped: asked again, as a user would, if it was where nothing can be raised."""
    for _ in range(5):
        os.kill(process.pid, how)
        try:
            return process.communicate(timeout=20)[1]
        except subprocess.TimeoutExpired:
            continue
    process.kill()
    process.communicate()
    raise AssertionError("it goes on")


def can_be_interrupted() -> None:
    """Also where the tests themselves were started in the background, and told to ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_stopped_after_its_first_result(how, uninterrupted, tmp_path):
    out = saved_models.with_the_plan(tmp_path / "out")
    command = [sys.executable, "-c", SLOW, *arguments(out)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, env=environment, preexec_fn=can_be_interrupted)
    first = first_result(out)
    time.sleep(0.3)  # it is in its second experiment
    heard = stopped_by(how, process)
    if how == signal.SIGINT:
        assert process.returncode == 130
        sentence = "whence: interrupted. Finished work is saved; run the same command again to resume."
        assert heard.decode().strip() == sentence
    else:
        assert process.returncode == -signal.SIGKILL
    before = state(first)
    assert list(tables(out)) == [f"results/ablation/{first.name}/table.parquet"]
    assert not (out / "report.html").exists()
    longest = ("faithfulness", "instance_adversary")  # of the rest: others are computed, after Ctrl-C but one
    saved_models.with_finished_results(out, *longest, *(("identifiability",) if how == signal.SIGINT else ()))
    finished(out)
    assert state(first) == before, "computed or written again"
    assert tables(out) == tables(uninterrupted)
    assert not list(out.rglob(".*"))
    assert (out / "report.html").exists()


def test_what_a_killed_process_left_half_written_is_cleared_away(uninterrupted, tmp_path):
    """Killed while writing: a folder under its other name, of a process that is no more."""
    out = tmp_path / "out"
    shutil.copytree(uninterrupted, out)
    shutil.rmtree(out / "results" / "ablation")
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    half = temporary_name(out / "results" / "ablation" / "abc")
    half = half.with_name(half.name.replace(f".{os.getpid()}.", f".{gone.pid}."))
    half.mkdir(parents=True)
    (half / "table.parquet").write_bytes(b"PAR")
    finished(out)
    assert tables(out) == tables(uninterrupted)
    assert not half.exists()
