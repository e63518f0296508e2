"""Functions that tests ask engines to call, in processes of their own."""

import os
import time
from pathlib import Path

from whence.core.errors import BadConfig
from whence.engine.claims import claimed


def double(number: int) -> int:
    """Twice the number."""
    return 2 * number


def where() -> tuple[int, str]:
    """The process, and how many threads it may use."""
    return os.getpid(), os.environ["OMP_NUM_THREADS"]


def noisy(number: int) -> int:
    """Twice the number, after printing something."""
    print("words that are no answer")
    return 2 * number


def refuse() -> None:
    """Refuse, as Whence refuses."""
    raise BadConfig("epochs: expected more than 0, got -1")


def fail_until(folder: str, times: int) -> str:
    """Fail so many times, then say how often it was called."""
    calls = Path(folder) / str(time.monotonic_ns())
    calls.touch()
    n = len(list(Path(folder).iterdir()))
    if n <= times:
        raise RuntimeError(f"call {n}")
    return f"call {n}"


def die_once(folder: str) -> str:
    """End the process at the first call."""
    mark = Path(folder) / "died"
    if not mark.exists():
        mark.touch()
        os._exit(9)
    return "alive"


def sleep(seconds: float) -> None:
    """Take some time."""
    time.sleep(seconds)


def once(folder: str, key: str, seconds: float) -> str:
    """Write a file for each time that this was computed, under a claim."""
    with claimed(Path(folder) / "claims" / key):
        done = Path(folder) / f"{key}.done"
        if done.exists():
            return "was done"
        time.sleep(seconds)
        with (Path(folder) / "computed").open("a") as file:
            file.write(f"{key}\n")
        done.touch()
        return "computed"


def note(folder: str, name: str) -> None:
    """Add a name to a list."""
    with (Path(folder) / "order").open("a") as file:
        file.write(f"{name}\n")
