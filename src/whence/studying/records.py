"""What a study leaves in its folder: a record of each finished task, of each failure, claims, and a journal."""

import json
import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whence.engine.claims import is_held
from whence.results.atomic_write import write_json
from whence.results.store import Store

Record = dict[str, Any]


class Records:
    """The records of tasks under `root`, by their keys; several studies may share a folder, and so may machines."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)
        self.store = Store(root)

    def done(self, key: str) -> Record | None:
        """The record of a finished task whose result is still there."""
        record = _read(self._file("tasks", key))
        return record if record is not None and (self.root / record["result"]).exists() else None

    def failure(self, key: str) -> Record | None:
        """The record of a task that was given up."""
        return _read(self._file("failed", key))

    def claim(self, key: str) -> Path:
        """The file by which a worker claims a task."""
        return self.root / "claims" / key

    def is_running(self, key: str) -> bool:
        """Whether a worker computes the task now."""
        return is_held(self.claim(key))

    def write_done(self, key: str, record: Mapping[str, Any]) -> None:
        """Record that a task is finished; an earlier failure is forgotten."""
        self._write("tasks", key, record)
        self._file("failed", key).unlink(missing_ok=True)

    def write_failure(self, key: str, record: Mapping[str, Any]) -> None:
        """Record that a task was given up."""
        self._write("failed", key, record)

    def note(self, key: str, event: str) -> None:
        """Add a line to the journal: what happened to a task, when, and where."""
        about = {"task": key, "event": event, "time": round(time.time(), 3)}
        line = json.dumps({**about, "machine": socket.gethostname(), "process": os.getpid()})
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / "journal.jsonl").open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    def journal(self) -> list[Record]:
        """The lines of the journal; one that a kill cut off is left out."""
        path = self.root / "journal.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]

    def _write(self, kind: str, key: str, record: Mapping[str, Any]) -> None:
        path = self._file(kind, key)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, dict(record))

    def _file(self, kind: str, key: str) -> Path:
        return self.root / kind / f"{key}.json"


def _read(path: Path) -> Record | None:
    try:
        record: Record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return record
