"""Checksums of files, each file read once in a process."""

import gzip
import hashlib
import os
import time
from functools import lru_cache
from pathlib import Path

SETTLED = 2.0  # seconds since the last change; a file changed later may change again within one tick of its clock


def sha256(path: Path, name: str = "") -> str:
    """The sha256 of a file; of its unpacked content, if the file has .gz after the name it should have.

    It is kept for the file's path, inode, size and time of change, so that large files are not read again.
    """
    gzipped = bool(name) and path.name == f"{Path(name).name}.gz"
    status = path.stat()
    if time.time() - status.st_mtime < SETTLED:
        return _digest(path, gzipped)
    return _kept(os.path.abspath(path), gzipped, status.st_ino, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=1024)
def _kept(path: str, gzipped: bool, inode: int, size: int, changed: int) -> str:
    return _digest(Path(path), gzipped)


def _digest(path: Path, gzipped: bool) -> str:
    with gzip.open(path) if gzipped else path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
