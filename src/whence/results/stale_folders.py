"""Folders under way: how they are named, and how those that a killed process left are cleared away."""

import os
import re
import shutil
import socket
import time
import uuid
from pathlib import Path

HOUR = 3600.0


def beside(folder: Path) -> Path:
    """A name beside the folder for the time of writing; it says which process on which machine writes."""
    return folder.parent / f".{folder.name}.{_machine()}.{os.getpid()}.{uuid.uuid4().hex[:8]}"


def clean(parent: Path) -> None:
    """Delete folders under way that are over an hour old, or whose process on this machine is dead."""
    for folder in parent.glob(".*.*.*.*"):
        named = re.fullmatch(r"\.\w+\.([\w-]+)\.(\d+)\.[0-9a-f]{8}", folder.name)
        if named and (_old(folder) or (named[1] == _machine() and not _alive(int(named[2])))):
            shutil.rmtree(folder, ignore_errors=True)


def _machine() -> str:
    return re.sub(r"[^\w-]", "-", socket.gethostname()) or "here"


def _old(folder: Path) -> bool:
    try:
        return time.time() - folder.stat().st_mtime > HOUR
    except FileNotFoundError:  # its process has just finished
        return False


def _alive(process: int) -> bool:
    if os.name != "posix":  # elsewhere asking could end the process
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
