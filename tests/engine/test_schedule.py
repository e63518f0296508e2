"""The schedule: order by dependencies, retries, failures that stop nothing else, and no call twice at a time."""

from collections import Counter

import pytest

from whence.core.errors import BadConfig
from whence.engine.call import Call
from whence.engine.here import HereEngine
from whence.engine.local import LocalEngine
from whence.engine.schedule import Job, Schedule

HERE = "support.scale.engine_calls:"


def noting(folder, name, needs=(), after=()):
    return Job(Call(name, f"{HERE}note", {"folder": str(folder), "name": name}), needs, after)


def order(folder):
    return (folder / "order").read_text().split()


def test_what_is_needed_comes_first(tmp_path):
    jobs = [noting(tmp_path, "report", after=("b", "c")), noting(tmp_path, "b", ("a",)), noting(tmp_path, "c", ("a",))]
    Schedule([*jobs, noting(tmp_path, "a")], HereEngine()).run()
    assert order(tmp_path) == ["a", "b", "c", "report"]


def test_what_is_done_does_not_run(tmp_path):
    found = Schedule([noting(tmp_path, "a"), noting(tmp_path, "b", ("a",))], HereEngine(), done=["a"]).run()
    assert order(tmp_path) == ["b"]
    assert {one.state for one in found.values()} == {"done"}


def test_a_failure_stops_only_what_needs_it(tmp_path):
    jobs = [
        Job(Call("bad", f"{HERE}refuse")),
        noting(tmp_path, "needs bad", ("bad",)),
        noting(tmp_path, "needs that", ("needs bad",)),
        noting(tmp_path, "other"),
        noting(tmp_path, "report", after=("needs that", "other")),
    ]
    found = Schedule(jobs, HereEngine()).run()
    assert order(tmp_path) == ["other", "report"]
    assert found["needs bad"].error == "not run, since bad failed"
    assert found["needs that"].error == "not run, since needs bad failed"


@pytest.mark.parametrize(("times", "state", "calls"), [(0, "done", 1), (2, "done", 3), (3, "failed", 3)])
def test_a_failed_call_is_tried_again(tmp_path, times, state, calls):
    call = Call("a", f"{HERE}fail_until", {"folder": str(tmp_path), "times": times})
    found = Schedule([Job(call)], HereEngine(), attempts=3, back_off=0.001).run()
    assert found["a"].state == state
    assert len(list(tmp_path.iterdir())) == calls


def test_a_refusal_is_not_tried_again():
    schedule = Schedule([Job(Call("a", f"{HERE}refuse"))], HereEngine(), back_off=600.0)
    assert schedule.run()["a"].state == "refused"
    assert schedule.failed == {}


def test_a_dead_worker_is_replaced_and_its_call_tried_again(tmp_path):
    engine = LocalEngine(1)
    try:
        jobs = [Job(Call("dies", f"{HERE}die_once", {"folder": str(tmp_path)})), noting(tmp_path, "b")]
        found = Schedule(jobs, engine, back_off=0.01).run()
    finally:
        engine.close()
    assert found["dies"].value == "alive"
    assert order(tmp_path) == ["b"]


def test_two_schedules_never_compute_the_same(tmp_path, monkeypatch):
    """Two drivers with two workers each: every key is computed once, whoever is first."""
    monkeypatch.setattr("whence.engine.schedule.ASK_AGAIN", 0.01)
    keys = [f"k{n}" for n in range(6)]
    jobs = [Job(Call(key, f"{HERE}once", {"folder": str(tmp_path), "key": key, "seconds": 0.05})) for key in keys]
    engines = [LocalEngine(2), LocalEngine(2)]
    try:
        both = [Schedule(jobs, engines[0]), Schedule(jobs[::-1], engines[1])]
        for schedule in both:
            schedule._begin()  # both are at work before either is asked
        found = [schedule.run() for schedule in both]
    finally:
        for engine in engines:
            engine.close()
    assert Counter((tmp_path / "computed").read_text().split()) == Counter(keys)
    assert all({one.state for one in each.values()} == {"done"} for each in found)


def test_impossible_orders_are_refused(tmp_path):
    with pytest.raises(BadConfig, match="depends on z, which is not among"):
        Schedule([noting(tmp_path, "a", ("z",))], HereEngine())
    with pytest.raises(BadConfig, match="wait for each other: a, b"):
        Schedule([noting(tmp_path, "a", ("b",)), noting(tmp_path, "b", ("a",))], HereEngine())
