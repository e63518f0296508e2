"""Calls in worker processes: their values, their errors, workers that die, and workers whose parent dies."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from whence.core.errors import BadConfig
from whence.engine.call import Call, Outcome
from whence.engine.engines import engine_named
from whence.engine.local import LocalEngine

HERE = "support.scale.engine_calls:"


@pytest.fixture
def engine():
    made = LocalEngine(2)
    yield made
    made.close()


def outcomes(engine, calls):
    for call in calls:
        engine.submit(call)
    found: dict[str, Outcome] = {}
    while len(found) < len(calls):
        outcome = engine.completed(30.0)
        assert outcome is not None
        found[outcome.name] = outcome
    return found


def test_values_come_back_by_name(engine):
    found = outcomes(engine, [Call(f"n{n}", f"{HERE}double", {"number": n}) for n in range(7)])
    assert {name: one.value for name, one in found.items()} == {f"n{n}": 2 * n for n in range(7)}
    assert {one.state for one in found.values()} == {"done"}


def test_workers_are_other_processes_of_one_thread(engine):
    found = outcomes(engine, [Call(str(n), f"{HERE}where") for n in range(4)])
    assert {threads for _, threads in (one.value for one in found.values())} == {"1"}
    processes = {process for process, _ in (one.value for one in found.values())}
    assert os.getpid() not in processes
    assert len(processes) <= 2


def test_what_a_call_prints_is_no_answer(engine):
    assert outcomes(engine, [Call("a", f"{HERE}noisy", {"number": 4})])["a"].value == 8


def test_an_error_is_an_outcome_and_ours_is_refused_at_once(engine, tmp_path):
    failing = Call("fails", f"{HERE}fail_until", {"folder": str(tmp_path), "times": 9})
    found = outcomes(engine, [failing, Call("refused", f"{HERE}refuse")])
    assert (found["fails"].state, found["fails"].error) == ("failed", "RuntimeError: call 1")
    assert "fail_until" in found["fails"].trace
    assert (found["refused"].state, found["refused"].error) == ("refused", "epochs: expected more than 0, got -1")


def test_a_worker_that_dies_loses_its_call_alone(engine, tmp_path):
    dying = Call("dies", f"{HERE}die_once", {"folder": str(tmp_path)})
    found = outcomes(engine, [dying, *(Call(f"n{n}", f"{HERE}double", {"number": n}) for n in range(3))])
    assert found["dies"].state == "died"
    assert "exit code 9" in found["dies"].error
    assert all(found[f"n{n}"].value == 2 * n for n in range(3))
    assert outcomes(engine, [dying])["dies"].value == "alive"


def test_closing_ends_what_runs(tmp_path):
    engine = LocalEngine(1)
    engine.submit(Call("a", f"{HERE}where"))
    process = engine.completed(30.0).value[0]
    engine.submit(Call("long", f"{HERE}sleep", {"seconds": 600}))
    engine.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


DRIVER = """
import sys
from whence.engine.call import Call
from whence.engine.local import LocalEngine
engine = LocalEngine(1)
engine.submit(Call("a", "support.scale.engine_calls:where"))
print(engine.completed(60.0).value[0], flush=True)
engine.submit(Call("long", "support.scale.engine_calls:sleep", {"seconds": 600}))
engine.completed(600.0)
"""


def test_workers_end_when_their_parent_is_killed():
    tests = str(Path(__file__).parents[1])
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": tests}
    )
    with driver:
        worker = int(driver.stdout.readline())
        driver.send_signal(signal.SIGKILL)
    for _ in range(200):
        state = Path(f"/proc/{worker}/stat")
        if not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.05)
    raise AssertionError("the worker outlived its parent by ten seconds")


def test_no_workers_are_refused():
    with pytest.raises(BadConfig, match="at least one worker; came 0"):
        engine_named("local", 0)
