"""The store of results: one folder for each cache key, written atomically."""

import errno
import hashlib
import io
import json
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from whence.core.errors import BadData
from whence.results.errors import CannotSave, DamagedResult
from whence.results.result import Result
from whence.results.stale_folders import delete_stale, temporary_name
from whence.results.to_json import canonical, plain

TABLE, MANIFEST = "table.parquet", "manifest.json"


class Store:
    """Results under `root/results/<experiment>/<key>`, where the key is a hash of the cache key: all that a result
    depends on.

    The same cache key has the same folder, so an interrupted run resumes where it stopped. A folder is written under a
    temporary name and then renamed, so it is complete or not there.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)

    def __repr__(self) -> str:
        return f"Store({str(self.root)!r})"

    def key(self, cache_key: Mapping[str, Any]) -> str:
        """The first 12 hex digits of the sha256 of the cache key's canonical JSON."""
        return hashlib.sha256(canonical(cache_key).encode()).hexdigest()[:12]

    def folder(self, experiment: str, cache_key: Mapping[str, Any]) -> Path:
        """The folder of that result, whether it exists or not."""
        name = experiment.replace(":", ".")  # of a script, as module:object, which some file systems cannot hold
        if not re.fullmatch(r"\w[\w.-]*", name):
            raise BadData(f"an experiment's name is letters, digits, '_', '-' and '.'; got {experiment!r}: rename it")
        return self.root / "results" / name / self.key(cache_key)

    def get(self, experiment: str, cache_key: Mapping[str, Any]) -> Result | None:
        """The saved result, or None if there is none yet."""
        folder = self.folder(experiment, cache_key)
        return self.load(folder) if folder.exists() else None

    def put(self, result: Result, cache_key: Mapping[str, Any]) -> Path:
        """Save the result; one that is saved under this cache key already is kept."""
        folder = self.folder(result.experiment, cache_key)
        if folder.exists():
            return folder
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            delete_stale(folder.parent)
            _write_whole(folder, _files(result, cache_key))
        except OSError as error:
            reason = error.strerror or str(error)
            raise CannotSave(
                f"could not save a result of {result.experiment} in {folder.parent}: {reason}. Nothing was left there. "
                f"Make room or allow writing, or choose another folder, and run again"
            ) from error
        return folder

    def all(self) -> list[Result]:
        """Every saved result, by experiment and key."""
        folders = sorted((self.root / "results").glob("*/*"))
        return [self.load(folder) for folder in folders if not folder.name.startswith(".")]

    def load(self, folder: str | Path) -> Result:
        """The result in a folder; its manifest has the `cache_key` that the folder is named after."""
        folder = Path(folder)
        try:
            manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
            about, experiment = manifest.pop("table"), manifest.pop("experiment")
            content = (folder / TABLE).read_bytes()
            if hashlib.sha256(content).hexdigest() != about["sha256"]:
                raise ValueError(f"{TABLE} is not the one that was written")
            table = pd.read_parquet(io.BytesIO(content), engine="pyarrow")
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            reason = f"{MANIFEST} lacks {error}" if isinstance(error, KeyError) else str(error)
            raise DamagedResult(
                f"the result in {folder} is damaged: {reason}. Delete that folder and run again"
            ) from error
        return Result(experiment, table, manifest)


def table_bytes(table: pd.DataFrame) -> bytes:
    """The table as Parquet: the same data, the same bytes."""
    buffer = io.BytesIO()
    table.to_parquet(buffer, engine="pyarrow", compression="zstd", index=False)
    return buffer.getvalue()


def _files(result: Result, cache_key: Mapping[str, Any]) -> dict[str, bytes]:
    table = table_bytes(result.table)
    about = {"sha256": hashlib.sha256(table).hexdigest(), "rows": len(result.table)}
    own = {"experiment": result.experiment, "cache_key": cache_key, "table": about}
    manifest = json.dumps(plain({**own, **result.manifest, **own}), indent=1, ensure_ascii=False, allow_nan=False)
    return {TABLE: table, MANIFEST: manifest.encode("utf-8", "backslashreplace")}


def _write_whole(folder: Path, files: Mapping[str, bytes]) -> None:
    """All files or none: written to a temporary folder, forced to disk, renamed. An earlier folder of another process
    stays.
    """
    temporary = temporary_name(folder)
    try:
        temporary.mkdir()
        for name, content in files.items():
            with (temporary / name).open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        _sync(temporary)
        temporary.rename(folder)
        _sync(folder.parent)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or not folder.exists():
            raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _sync(folder: Path) -> None:
    """Force a folder's list of names to disk, where the system can."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
