"""Writing: whole or not at all, and a sentence where it cannot be done."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from whence.results.errors import CannotSave


@contextmanager
def saving(place: Path, option: str = "--out") -> Iterator[None]:
    """Whatever goes wrong with the disk inside is told in a sentence."""
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
    """What the system said, if it was about a disk; writers of weights say it in errors of their own."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if type(error).__name__ == "SafetensorError" and "os error" in str(error):
        return str(error)
    torch_could_not = isinstance(error, RuntimeError) and any(
        word in str(error) for word in ("inline_container", "iostream", "PytorchStreamWriter")
    )
    return "the weights could not be written whole; is the disk full?" if torch_could_not else None


def write_json(path: Path, content: Any) -> None:
    """Plain values as JSON, written beside and renamed."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        new.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)
