"""Claims: one holder at a time; that of a dead or silent process lapses, and only one of many takes it over."""

import json
import os
import socket
import subprocess
import sys
import threading
import time

import pytest

from whence.engine import claims
from whence.engine.call import Busy
from whence.engine.claims import claimed, claimed_when_free, is_held, take


@pytest.fixture
def path(tmp_path):
    return tmp_path / "claims" / "a"


def ended_process() -> int:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def left_by(path, process, machine=None):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"machine": machine or socket.gethostname(), "process": process}))


def test_a_claim_has_one_holder(path):
    with claimed(path):
        assert is_held(path)
        with pytest.raises(Busy, match=f"process {os.getpid()} on"), claimed(path):
            pass
    assert not path.exists()
    with claimed(path):
        pass


def test_it_ends_with_an_error_too(path):
    with pytest.raises(ZeroDivisionError), claimed(path):
        raise ZeroDivisionError
    assert take(path)


def test_that_of_an_ended_process_lapses(path):
    left_by(path, ended_process())
    assert not is_held(path)
    assert take(path)


def test_that_of_another_machine_lapses_when_it_is_silent(path):
    left_by(path, 1, "elsewhere")
    assert not take(path)
    before = time.time() - claims.LAPSED - 1
    os.utime(path, (before, before))
    assert take(path)


def test_a_holder_keeps_it_from_lapsing(path, monkeypatch):
    monkeypatch.setattr(claims, "TOUCH", 0.01)
    with claimed(path):
        os.utime(path, (0, 0))
        for _ in range(500):
            if path.stat().st_mtime > 1:
                return
            time.sleep(0.01)
    raise AssertionError("it was not touched")


def test_of_many_one_takes_over_a_lapsed_claim(path):
    left_by(path, ended_process())
    barrier, taken = threading.Barrier(16), []

    def try_it():
        barrier.wait()
        taken.append(take(path))

    threads = [threading.Thread(target=try_it) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert taken.count(True) == 1


def test_one_waits_for_the_other(path):
    order = []

    def second():
        with claimed_when_free(path, ask_again=0.01):
            order.append("second")

    with claimed(path):
        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.05)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
