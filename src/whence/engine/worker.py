"""A worker process (`python -m whence.engine.worker`): reads calls from stdin, writes outcomes to stdout, both pickled.

Its stdin is a pipe that only the process which started it holds. When that one ends, however it ends, the pipe closes
and the worker leaves at once, in mid-call too: what it was writing is written whole or not at all.
"""

import os
import pickle
import signal
import sys
import threading
from queue import SimpleQueue
from typing import Any

from whence.engine.call import Call, perform


def main() -> None:
    """Perform calls until stdin ends. What a call prints goes to stderr."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group; the first process ends the others
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    calls: SimpleQueue[Call] = SimpleQueue()
    sys.path[:] = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_read, args=(sys.stdin.buffer, calls), daemon=True).start()
    while True:
        pickle.dump(perform(calls.get()), answers)
        answers.flush()


def _read(source: Any, calls: "SimpleQueue[Call]") -> None:
    while True:
        try:
            calls.put(pickle.load(source))
        except (EOFError, pickle.UnpicklingError):
            os._exit(1)


if __name__ == "__main__":
    main()
