"""Claims: a file says which process computes something, so that no other does; that of a dead process lapses.

A claim is created exclusively and whole, and its holder touches it every few seconds. One that was not touched for a
minute, or whose process on this machine has ended, is removed under a lock and created anew.
"""

import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from whence.engine.call import Busy
from whence.results.stale_folders import process_is_alive

TOUCH = 10.0  # seconds
LAPSED = 60.0  # seconds without a touch; clocks of machines that share a folder must not differ by that much


@contextmanager
def claimed(path: Path) -> Iterator[None]:
    """Hold the claim while open; `Busy` if another process holds it."""
    if not take(path):
        raise Busy(f"{describe_holder(path)} is computing it")
    with _held(path):
        yield


@contextmanager
def claimed_when_free(path: Path, ask_again: float = 0.2) -> Iterator[None]:
    """Wait until nobody else holds the claim, then hold it while open."""
    while not take(path):
        time.sleep(ask_again)
    with _held(path):
        yield


def take(path: Path) -> bool:
    """Create the claim; False if another process holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    own = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}")
    own.write_text(json.dumps({"machine": socket.gethostname(), "process": os.getpid()}))
    try:
        _remove_lapsed(path)
        os.link(own, path)
    except FileExistsError:
        return False
    finally:
        own.unlink()
    return True


@contextmanager
def _held(path: Path) -> Iterator[None]:
    ended = threading.Event()
    toucher = threading.Thread(target=_touch, args=(path, ended), daemon=True)
    toucher.start()
    try:
        yield
    finally:
        ended.set()
        toucher.join()
        path.unlink(missing_ok=True)


def holder(path: Path) -> tuple[str, int] | None:
    """Machine and process of the claim; None if nobody holds it, or it is being written."""
    try:
        about = json.loads(path.read_text())
        return str(about["machine"]), int(about["process"])
    except (OSError, ValueError, KeyError):
        return None


def describe_holder(path: Path) -> str:
    """The process that holds a claim, in words."""
    held = holder(path)
    return f"process {held[1]} on {held[0]}" if held else "another process"


def is_held(path: Path) -> bool:
    """Whether a claim is there and its process seems to live."""
    return path.exists() and not _lapsed(path)


def _lapsed(path: Path) -> bool:
    try:
        silent = time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return False
    held = holder(path)
    here = held is not None and held[0] == socket.gethostname()
    return silent > LAPSED or (here and held is not None and not process_is_alive(held[1]))


def _remove_lapsed(path: Path) -> None:
    """Remove a claim that has lapsed; looked at again under a lock, so that one made anew meanwhile stays."""
    if not _lapsed(path):
        return
    with FileLock(path.with_name(f".{path.name}.lock")):
        if _lapsed(path):
            path.unlink(missing_ok=True)


def _touch(path: Path, ended: threading.Event) -> None:
    while not ended.wait(TOUCH):
        try:
            path.touch()
        except OSError:  # the folder is gone; the call itself will say so
            return
