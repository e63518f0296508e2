"""Files: their bytes, their text, and the table of cells that every format is read into."""

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whence.core.errors import BadData


@dataclass(frozen=True)
class Table:
    """The cells of a file: one dictionary a row, in the order of the file. `notes` are about what was inferred."""

    columns: tuple[str, ...]
    rows: list[dict[str, Any]]
    notes: tuple[str, ...] = ()


def file_exists(name: str | Path) -> bool:
    """Whether there is a file or folder of this name; a name that is too long for one names none."""
    try:
        return Path(name).exists()
    except OSError:
        return False


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
        raise BadData(f"there is no file {path}; check the spelling and the working folder")
    if path.suffix.lower() != ".gz":
        return path.read_bytes()
    try:
        return gzip.decompress(path.read_bytes())
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadData(f"{path} ends in .gz but cannot be gunzipped ({error}); it may be cut short") from error


def each_line(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 file, gunzipped if it ends in .gz, with their numbers; the file is never held whole."""
    if not path.is_file():
        raise BadData(f"there is no file {path}; check the spelling and the working folder")
    number = 0
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
        try:
            for number, line in enumerate(file, start=1):
                yield number, line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise BadData(f"{path}, line {number} is not UTF-8; save the file again as UTF-8") from error
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise BadData(f"{path} cannot be gunzipped after line {number} ({error}); it may be cut short") from error
    if not number:
        raise BadData(f"{path} is empty; lines of text were expected")


def short(value: str, width: int = 40) -> str:
    """A name for a message, shortened if it is long."""
    return repr(value if len(value) <= width else value[: width - 1] + "…")
