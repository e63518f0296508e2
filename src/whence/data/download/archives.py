"""Archives: extract files from a zip or tar, and read many small files from a tar or a folder, one at a time."""

import gzip
import lzma
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from whence.core.errors import BadData

DAMAGED = (tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, lzma.LZMAError, EOFError)


def each_member(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the wanted files of a folder or of a tar (gzipped or not), which is read once."""
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            name = file.relative_to(path.parent).as_posix()
            if wanted(name) and file.is_file():
                yield name, file.read_bytes()
        return
    try:
        with tarfile.open(path, "r|*") as packed:
            for member in packed:
                content = packed.extractfile(member) if member.isfile() and wanted(member.name) else None
                if content is not None:
                    yield member.name, content.read()
    except DAMAGED as error:
        raise BadData(f"{path} cannot be read as a tar archive ({error}); it may be cut short") from error


def extract(archive: Path, names: tuple[str, ...], folder: Path, origin: str) -> None:
    """Put the files of these names, wherever they are in a zip or tar, into a folder. `origin` is for messages."""
    zipped = zipfile.is_zipfile(archive)
    if not zipped and not tarfile.is_tarfile(archive):
        raise BadData(f"the download from {origin} is neither a zip nor a tar archive; try again later")
    try:
        if zipped:
            with zipfile.ZipFile(archive) as packed:
                copy_members(packed.namelist(), packed.open, names, folder, origin)
        else:
            with tarfile.open(archive) as packed_tar:
                files = [member.name for member in packed_tar if member.isfile()]
                copy_members(files, packed_tar.extractfile, names, folder, origin)
    except DAMAGED as error:
        raise BadData(f"the download from {origin} cannot be unpacked ({error}); try again later") from error


def copy_members(
    listed: list[str], open_member: Callable[[str], IO[bytes] | None], names: tuple[str, ...], folder: Path, origin: str
) -> None:
    """Copy the members of these names, whatever folder they are in, and raise if one is missing."""
    members = {PurePosixPath(name).parts: name for name in listed if "__MACOSX" not in name and not name.endswith("/")}
    for name in names:
        parts = PurePosixPath(name).parts
        found = next((member for path, member in members.items() if path[-len(parts) :] == parts), None)
        source = open_member(found) if found else None
        if source is None:
            held = sorted(path[-1] for path in members)
            more = f" and {len(held) - 20} more" if len(held) > 20 else ""
            raise BadData(f"{origin} holds no {name}; it holds: {', '.join(held[:20])}{more}")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with source, (folder / name).open("wb") as target:
            shutil.copyfileobj(source, target)
