"""A folder that all processes of one test run share, so that each model there is trained once."""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

VARIABLE = "WHENCE_TESTS"


def open_folder() -> None:
    """Make the folder; processes that this one starts inherit its name."""
    os.environ[VARIABLE] = tempfile.mkdtemp(prefix="whence-tests-")


def close_folder() -> None:
    shutil.rmtree(os.environ.pop(VARIABLE), ignore_errors=True)


def home() -> Path:
    """The folder of this test run."""
    return Path(os.environ[VARIABLE])


def once(name: str, make: Callable[[Path], object]) -> Path:
    """The folder or file of this name, made by the first process that asks for it while the others wait."""
    path, done = home() / name, home() / f".{name.replace(os.sep, '-')}.done"
    with FileLock(done.with_suffix(".lock")):
        if not done.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            make(path)
            done.touch()
    return path
