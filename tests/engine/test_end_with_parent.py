"""Workers whose main process is killed (kill -9) end too, in the middle of their work; those that are not go on."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.saved_models import table
from whence.data.synthetic import stories
from whence.engine import end_with_parent as worker

TRAINS = """
import sys
from pathlib import Path
from whence.data.registry import load
from whence.training import train
from whence.training.config import Training

def main(table, out):
    corpus = load(table)
    train.processors = lambda: 2
    small = dict(encoder="average", embedding_size=8, hidden_size=8, epochs=100_000, patience=100_000)
    each = [Training(data=table, seed=seed, **small) for seed in range(2)]
    train.train_all([(one, Path(out) / str(one.seed), corpus) for one in each], quiet=True)

if __name__ == "__main__":
    main(*sys.argv[1:])
"""


def children(process: int) -> dict[int, str]:
    """The processes that a process has started, with their command lines (Linux)."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == process:
                found[int(folder.name)] = (folder / "cmdline").read_text().replace("\0", " ")
        except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            continue
    return found


def at_work(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def within(seconds: float, holds) -> bool:
    until = time.monotonic() + seconds
    while not holds() and time.monotonic() < until:
        time.sleep(0.05)
    return holds()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads the tree of processes from /proc")
def test_workers_end_when_their_main_process_is_killed(tmp_path):
    rows = [
        {"text": f"{one.text} {one.pair}", "label": one.label, "split": split}
        for split, examples in stories.load(sizes={"train": 48, "dev": 16}).splits.items()
        for one in examples
    ]
    data = table(tmp_path / "table.csv", rows)
    (tmp_path / "trains.py").write_text(TRAINS)
    command = [sys.executable, str(tmp_path / "trains.py"), str(data), str(tmp_path)]
    main = subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"})
    workers = []
    try:
        begun = [tmp_path / str(seed) / "checkpoint.pt" for seed in range(2)]
        assert within(300, lambda: main.poll() is not None or all(path.exists() for path in begun))
        assert main.poll() is None, "it ended before its workers were at work"
        workers = [number for number, command in children(main.pid).items() if "whence.engine.worker" in command]
        assert len(workers) == 2
        time.sleep(3 * worker.EVERY)
        assert all(map(at_work, workers)), "they ended though their parent lives"
        main.send_signal(signal.SIGKILL)
        main.wait()
        assert within(10, lambda: not any(map(at_work, workers))), "they train on"
        reached = [path.stat().st_mtime_ns for path in begun]
        time.sleep(0.5)
        assert [path.stat().st_mtime_ns for path in begun] == reached
    finally:
        main.kill()
        for number in filter(at_work, workers):
            os.kill(number, signal.SIGKILL)


def test_a_worker_watches_once_however_many_tasks_it_has():
    script = (
        "import os, threading; from whence.engine import end_with_parent as worker;"
        " [worker.end_with(os.getppid()) for _ in range(3)];"
        " print(sum(thread.name == worker.NAME for thread in threading.enumerate()))"
    )
    assert subprocess.check_output([sys.executable, "-c", script], text=True).strip() == "1"


def test_a_worker_whose_parent_had_ended_before_it_could_look_ends_at_once():
    script = (
        "import os, time; from whence.engine.end_with_parent import end_with;"
        " end_with(os.getppid() + 1); time.sleep(60)"
    )
    started = time.monotonic()
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 1
    assert time.monotonic() - started < 30
