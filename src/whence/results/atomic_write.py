"""Atomic writes, and a readable error where the disk fails."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from whence.results.errors import CannotSave


@contextmanager
def saving(place: Path, option: str = "--out") -> Iterator[None]:
    """Errors of the disk within are raised as `CannotSave`, with what to do."""
    try:
        yield
    except CannotSave:
        raise
    except Exception as error:
        reason = _reason(error)
        if reason is None:
            raise
        raise CannotSave(
            f"could not write in {place}: {reason}. What was finished before is safe. Make room or allow writing, or"
            f" name another folder with {option}, and run again"
        ) from error


def _reason(error: Exception) -> str | None:
    """The system's message, if the error is one of the disk; writers of weights raise errors of their own."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if type(error).__name__ == "SafetensorError" and "os error" in str(error):
        return str(error)
    torch_could_not = isinstance(error, RuntimeError) and any(
        word in str(error) for word in ("inline_container", "iostream", "PytorchStreamWriter")
    )
    return "the weights could not be written whole; is the disk full?" if torch_could_not else None


def write_json(path: Path, content: Any) -> None:
    """Values as JSON, written to a temporary file and renamed."""
    write_bytes(path, json.dumps(content, indent=1, ensure_ascii=False).encode())


def write_bytes(path: Path, content: bytes) -> None:
    """A file, written under a temporary name and renamed."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        new.write_bytes(content)
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)
