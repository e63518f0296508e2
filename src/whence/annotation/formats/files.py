"""Reading and writing the files of other tools, with errors that name the file and the place."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from whence.annotation.answers import NAME
from whence.annotation.tasks import SKIP
from whence.core.errors import BadData
from whence.results.atomic_write import saving


def write_text(path: Path, text: str) -> Path:
    """A file written whole, its folder made."""
    with saving(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    return path


def write_jsonl(path: Path, rows: Sequence[Any]) -> Path:
    """One JSON object in each line."""
    return write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def read_json(path: Path) -> Any:
    """The JSON of a file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadData(f"{path} cannot be read as JSON: {error}") from error


def read_jsonl(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file with one in each line, with the number of the line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise BadData(f"{path} cannot be read: {error}") from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield number, dict(json.loads(line))
            except (ValueError, TypeError) as error:
                raise BadData(f"{path}, line {number} holds no JSON object: {error}") from error


def files_in(paths: Sequence[Path], pattern: str) -> list[Path]:
    """The files, and those of the folders, that match a pattern."""
    found = [file for path in paths for file in (sorted(path.rglob(pattern)) if path.is_dir() else [path])]
    missing = [path for path in found if not path.is_file()]
    if missing or not found:
        where = missing[0] if missing else paths[0]
        raise BadData(f"{where} is neither a file nor a folder with files {pattern}; name what the tool exported")
    return found


def only(chosen: Sequence[str], item: str, where: str) -> str:
    """The one answer that was chosen; none is a skipped item."""
    if len(chosen) > 1:
        raise BadData(f"{where}: item {item} has {len(chosen)} answers ({', '.join(chosen)}); expected one")
    return str(chosen[0]) if chosen else SKIP


def annotator_name(given: Any) -> str:
    """A tool's name for a person, as a name of ours: characters that a file name may not have become dashes."""
    text = "".join(letter if NAME.fullmatch(f"a{letter}") else "-" for letter in str(given)).strip("-._")[:40]
    return text or "annotator"
