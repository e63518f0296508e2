"""Temporary folders: their names, and the deletion of those that a killed process left."""

import os
import re
import shutil
import socket
import time
import uuid
from pathlib import Path

HOUR = 3600.0


def temporary_name(folder: Path) -> Path:
    """A name next to the folder while it is written; it holds the machine and the process that write."""
    return folder.parent / f".{folder.name}.{_machine()}.{os.getpid()}.{uuid.uuid4().hex[:8]}"


def delete_stale(parent: Path) -> None:
    """Delete temporary folders that are over an hour old, or whose process on this machine has ended."""
    for folder in parent.glob(".*.*.*.*"):
        named = re.fullmatch(r"\.\w+\.([\w-]+)\.(\d+)\.[0-9a-f]{8}", folder.name)
        if named and (_old(folder) or (named[1] == _machine() and not process_is_alive(int(named[2])))):
            shutil.rmtree(folder, ignore_errors=True)


def _machine() -> str:
    return re.sub(r"[^\w-]", "-", socket.gethostname()) or "here"


def _old(folder: Path) -> bool:
    try:
        return time.time() - folder.stat().st_mtime > HOUR
    except FileNotFoundError:  # its process has just finished
        return False


def process_is_alive(process: int) -> bool:
    """Whether a process of this machine has not ended."""
    if os.name != "posix":  # elsewhere asking could end the process
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
