"""Bring a native corpus from its official place: checked, and either whole or not there at all."""

import hashlib
import os
import shutil
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

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


def missing_files(entry: Entry, folder: Path) -> list[str]:
    """The files of a corpus that are not in its folder."""
    return [name for name in entry.files if not (folder / name).is_file()]


def altered_files(entry: Entry, folder: Path) -> list[str]:
    """The files of a corpus that are there but not those of the official place."""
    there = [name for name in entry.files if (folder / name).is_file()]
    return [name for name in there if sha256(folder / name) != entry.files[name]]


def sha256(path: Path) -> str:
    """The checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fetch(entry: Entry, data_dir: str | Path | None = None) -> Path:
    """Download a corpus into its folder and return that; nothing is done if it is there already.

    All is made ready beside the folder and put in its place by one renaming, so that an interruption leaves nothing.
    """
    folder = home(data_dir) / entry.name
    if folder.exists():
        wrong = missing_files(entry, folder) + altered_files(entry, folder)
        if wrong:
            raise BadData(f"{folder} is there, but {', '.join(wrong)} are missing or not the official ones; "
                          f"move that folder away and call `whence data get {entry.name}` again")  # fmt: skip
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{entry.name}-", dir=folder.parent) as beside:
        archive, ready = Path(beside) / "archive", Path(beside) / "ready"
        download(entry.where, archive)
        unpack(entry, archive, ready)
        ready.rename(folder)
    return folder


def download(url: str, into: Path) -> None:
    """Fetch a URL with a progress bar."""
    import pooch
    import requests

    try:
        pooch.HTTPDownloader(progressbar=True)(url, str(into), None)
    except requests.HTTPError as error:
        raise BadData(f"{url} answered {error}; the corpus may have moved") from error
    except (requests.RequestException, OSError) as error:
        raise BadData(f"{url} cannot be reached ({type(error).__name__}); is there a network? Fetch it elsewhere and "
                      "unpack it into the folder that --data-dir or WHENCE_DATA names") from error  # fmt: skip


def unpack(entry: Entry, archive: Path, folder: Path) -> None:
    """Take the corpus's files out of a zip archive, wherever they lie in it, and check them."""
    folder.mkdir()
    try:
        with zipfile.ZipFile(archive) as packed:
            members = {PurePosixPath(name).name: name for name in packed.namelist() if "__MACOSX" not in name}
            for name in entry.files:
                if name not in members:
                    raise BadData(
                        f"{entry.where} holds no {name}; it holds: {', '.join(sorted(filter(None, members)))}"
                    )
                with packed.open(members[name]) as source, (folder / name).open("wb") as target:
                    shutil.copyfileobj(source, target)
    except zipfile.BadZipFile as error:
        raise BadData(f"what {entry.where} sent is not a zip archive ({error}); try again later") from error
    for name in altered_files(entry, folder):
        raise BadData(f"{name} from {entry.where} has the sha256 {sha256(folder / name)}; {entry.files[name]} was "
                      "expected: it was changed, or damaged on the way; nothing was kept")  # fmt: skip
