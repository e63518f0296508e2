"""Writing: whole or not at all, and a sentence where it cannot be done."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from whence.results.errors import CannotSave


@contextmanager
def saving(place: Path) -> Iterator[None]:
    """Whatever goes wrong with the disk inside is told in a sentence."""
    try:
        yield
    except CannotSave:
        raise
    except OSError as error:
        raise CannotSave(
            f"could not write in {place}: {error.strerror or error}. What was finished before is safe. Make room or"
            " allow writing, or name another folder with --out, and run again"
        ) from error


def write_json(path: Path, content: Any) -> None:
    """Plain values as JSON, written beside and renamed."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        new.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)
