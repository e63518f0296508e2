"""The engine of one machine: worker processes of one thread each. One that dies loses its call and is replaced."""

import os
import pickle
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from queue import Empty, SimpleQueue
from typing import IO

from whence.engine.call import ONE_THREAD, Call, Outcome

SHOWN = 600  # characters of the last words of a worker that died


class Worker:
    """A process that performs one call after another; each outcome comes back by `finished`, None if it dies."""

    def __init__(self, finished: "SimpleQueue[tuple[Worker, Outcome | None]]", environment: Mapping[str, str]) -> None:
        self.call: Call | None = None
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed by `end`
        self._process = subprocess.Popen(
            [sys.executable, "-m", "whence.engine.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, **ONE_THREAD, **environment},
        )
        self._finished = finished
        self._send(sys.path)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def perform(self, call: Call) -> None:
        """Begin a call."""
        self.call = call
        self._send(call)

    def last_words(self) -> str:
        """How it ended, and the end of what it printed."""
        code = self._process.wait()
        self._log.seek(0)
        said = self._log.read().decode(errors="replace").strip()[-SHOWN:]
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return f"the worker process {self._process.pid} {how}" + (f": {said}" if said else "")

    def end(self) -> None:
        """Kill the process and wait for its end."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout, self._log):
            if pipe is not None:
                _close(pipe)

    def _send(self, what: object) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(pickle.dumps(what))
            self._process.stdin.flush()
        except BrokenPipeError:  # it has died; its reader says so
            return

    def _read(self) -> None:
        assert self._process.stdout is not None
        while True:
            try:
                self._finished.put((self, pickle.load(self._process.stdout)))
            except (EOFError, pickle.UnpicklingError, ValueError, OSError):
                self._finished.put((self, None))
                return


class LocalEngine:
    """Workers on this machine, started when there is something for them to do.

    `environments` are given to the workers in turn: each its own device, say.
    """

    def __init__(self, workers: int, environments: Sequence[Mapping[str, str]] = ({},)) -> None:
        self.workers = workers
        self._environments = environments
        self._started = 0
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._waiting: deque[Call] = deque()
        self._finished: SimpleQueue[tuple[Worker, Outcome | None]] = SimpleQueue()

    def submit(self, call: Call) -> None:
        """Give the call to a free worker, or keep it until there is one."""
        self._waiting.append(call)
        self._hand_out()

    def completed(self, timeout: float) -> Outcome | None:
        """The next finished call; None if there is none within so many seconds."""
        try:
            worker, outcome = self._finished.get(timeout=timeout)
        except Empty:
            return None
        if worker not in self._busy:  # died while it had nothing to do
            self._idle = [other for other in self._idle if other is not worker]
            worker.end()
            return None
        self._busy.remove(worker)
        assert worker.call is not None
        if outcome is None:
            outcome = Outcome(worker.call.name, "died", error=worker.last_words())
            worker.end()
        else:
            self._idle.append(worker)
        self._hand_out()
        return outcome

    def close(self) -> None:
        """Kill all workers."""
        for worker in (*self._busy, *self._idle):
            worker.end()
        self._busy, self._idle, self._waiting = set(), [], deque()

    def _hand_out(self) -> None:
        while self._waiting and (self._idle or len(self._busy) < self.workers):
            worker = self._idle.pop() if self._idle else self._new_worker()
            self._busy.add(worker)
            worker.perform(self._waiting.popleft())

    def _new_worker(self) -> Worker:
        environment = self._environments[self._started % len(self._environments)]
        self._started += 1
        return Worker(self._finished, environment)


def _close(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except BrokenPipeError:  # what was not sent yet goes nowhere
        return
