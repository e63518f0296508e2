"""The folder of a native corpus: which of its files are there, as published, gzipped, or replaced by substitutes."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from whence.core.errors import BadData
from whence.data.checksum import sha256
from whence.data.entry import Entry


def data_folder(data_dir: str | Path | None = None) -> Path:
    """The folder that holds the native corpora: the one given, else $WHENCE_DATA, else the user's cache."""
    if data_dir is not None:
        return Path(data_dir)
    if os.environ.get("WHENCE_DATA"):
        return Path(os.environ["WHENCE_DATA"])
    import pooch

    return Path(pooch.os_cache("whence"))


@dataclass(frozen=True)
class CorpusFolder:
    """The folder of one native corpus. `notes` collects, as files are looked up, which substitutes were used."""

    entry: Entry
    path: Path
    notes: list[str] = field(default_factory=list)

    def paths(self, name: str) -> list[Path]:
        """Where an official file is, or its substitutes; none, if the file is optional and missing."""
        official, substitutes = self.official(name), self.substitutes(name)
        if official is None and substitutes:
            listed = " and ".join(path.relative_to(self.path).as_posix() for path in substitutes)
            self.notes.append(f"{name} is missing; read {listed} instead")
        elif official is None and name not in self.entry.optional:
            raise missing_corpus(self.entry, self.path, [name])
        elif official is None:
            self.notes.append(f"{name} is missing")
        return substitutes if official is None else [official]

    def official(self, name: str) -> Path | None:
        """The file of this name, gzipped or not."""
        return next((path for path in (self.path / name, self.path / f"{name}.gz") if path.exists()), None)

    def substitutes(self, name: str) -> list[Path]:
        """The substitutes of a file that are there."""
        paths = (self.official(other) for other in self.entry.substitutes.get(name, ()))
        return [path for path in paths if path is not None]

    def missing(self) -> list[str]:
        """The required files that are not there, nor their substitutes."""
        needed = [name for name in self.entry.files if name not in self.entry.optional]
        return [name for name in needed if self.official(name) is None and not self.substitutes(name)]

    def unofficial(self) -> list[str]:
        """The files that are missing or differ from the published ones."""
        return [name for name in self.entry.files if self.official(name) is None] + self.modified()

    def modified(self) -> list[str]:
        """The files that differ from the published ones, where their checksum is known."""
        known = {name: self.official(name) for name, digest in self.entry.files.items() if digest}
        return [name for name, path in known.items() if path and sha256(path, name) != self.entry.files[name]]


def missing_corpus(entry: Entry, folder: Path, missing: list[str]) -> BadData:
    """The error for a corpus whose files are not there: what it is, and how to get it."""
    get = entry.manual_download or f"Get it with `whence data get {entry.name}`"
    return BadData(
        f"{entry.name} is not in {folder.parent} (no {', '.join(missing)} in {folder}). It is: {entry.about}; "
        f"licence: {entry.licence}. {get}, or name the folder that holds it with --data-dir or WHENCE_DATA"
    )
