"""Where native corpora are, and which of a corpus's files are there: official, gzipped, or what stands in for them."""

import gzip
import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path

from whence.core.errors import BadData
from whence.data.entry import Entry


def home(data_dir: str | Path | None = None) -> Path:
    """The folder of the native corpora: the one given, else $WHENCE_DATA, else the user's cache."""
    if data_dir is not None:
        return Path(data_dir)
    if os.environ.get("WHENCE_DATA"):
        return Path(os.environ["WHENCE_DATA"])
    import pooch  # type: ignore[import-untyped]

    return Path(pooch.os_cache("whence"))


@dataclass(frozen=True)
class Shelf:
    """The folder of one native corpus. `notes` says, as files are taken, what was read in place of what."""

    entry: Entry
    folder: Path
    notes: list[str] = field(default_factory=list)

    def take(self, name: str) -> list[Path]:
        """Where an official file is, or what stands in for it; nothing, if it may be missing and is."""
        official, instead = self.official(name), self.instead(name)
        if official is None and instead:
            listed = " and ".join(path.relative_to(self.folder).as_posix() for path in instead)
            self.notes.append(f"{name} is not there; read {listed} in its place")
        elif official is None and name not in self.entry.optional:
            raise absent(self.entry, self.folder, [name])
        elif official is None:
            self.notes.append(f"{name} is not there")
        return instead if official is None else [official]

    def official(self, name: str) -> Path | None:
        """The file of this name, gzipped or not."""
        return next((path for path in (self.folder / name, self.folder / f"{name}.gz") if path.exists()), None)

    def instead(self, name: str) -> list[Path]:
        """What is there of that which may stand in for a file."""
        paths = (self.official(other) for other in self.entry.instead.get(name, ()))
        return [path for path in paths if path is not None]

    def missing(self) -> list[str]:
        """The files of the corpus without which it cannot be read and that are not there."""
        needed = [name for name in self.entry.files if name not in self.entry.optional]
        return [name for name in needed if self.official(name) is None and not self.instead(name)]

    def unofficial(self) -> list[str]:
        """The files that are missing, or whose contents are not those of the official place."""
        return [name for name in self.entry.files if self.official(name) is None] + self.altered()

    def altered(self) -> list[str]:
        """The files of the corpus that are there but not those of the official place, where that can be told."""
        known = {name: self.official(name) for name, digest in self.entry.files.items() if digest}
        return [name for name, path in known.items() if path and sha256(path, name) != self.entry.files[name]]


def sha256(path: Path, name: str = "") -> str:
    """The checksum of a file; of what was gzipped, if the file has .gz after the name it should have."""
    packed = bool(name) and path.name == f"{Path(name).name}.gz"
    with gzip.open(path) if packed else path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def absent(entry: Entry, folder: Path, gone: list[str]) -> BadData:
    """What to say of a corpus whose files are not there."""
    get = entry.by_hand or f"Get it with `whence data get {entry.name}`"
    return BadData(
        f"{entry.name} is not in {folder.parent} (no {', '.join(gone)} in {folder}). It is: {entry.about}; "
        f"licence: {entry.licence}. {get}, or name the folder that holds it with --data-dir or WHENCE_DATA"
    )
