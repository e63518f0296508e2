"""Files: their bytes, their text, and the table of cells that every format is read into."""

import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whence.core.errors import BadData


@dataclass(frozen=True)
class Table:
    """The cells of a file: one dictionary a row, in the order of the file. `notes` says what was guessed."""

    columns: tuple[str, ...]
    rows: list[dict[str, Any]]
    notes: tuple[str, ...] = ()


def read_text(path: Path) -> str:
    """The whole text of a UTF-8 file, gunzipped if it ends in .gz, without a byte order mark."""
    data = read_bytes(path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        byte, line = data[error.start], data.count(b"\n", 0, error.start) + 1
        raise BadData(
            f"{path} is not UTF-8: byte {error.start} (0x{byte:02x}, in line {line}) "
            "cannot be read; save the file again as UTF-8"
        ) from error
    if not text.strip():
        raise BadData(f"{path} is empty; a table with a header and rows was expected")
    return text.removeprefix("\ufeff")


def read_bytes(path: Path) -> bytes:
    """The bytes of a file, gunzipped if it ends in .gz."""
    if path.is_dir():
        raise BadData(f"{path} is a folder; a file was expected")
    if not path.exists():
        raise BadData(f"there is no file {path}; look at the spelling and at the folder you are in")
    if path.suffix.lower() != ".gz":
        return path.read_bytes()
    try:
        return gzip.decompress(path.read_bytes())
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadData(f"{path} ends in .gz but cannot be gunzipped ({error}); it may be cut short") from error


def short(value: str, width: int = 40) -> str:
    """A name as it can stand in a sentence, cut if it is long."""
    return repr(value if len(value) <= width else value[: width - 1] + "…")
