"""Bring a native corpus from its official place: checked, and either whole or not there at all."""

import sys
import tempfile
from pathlib import Path

from whence.core.errors import BadData
from whence.data.download.archives import take_out
from whence.data.download.corpus_folder import Shelf, home, sha256
from whence.data.entry import Entry, Source
from whence.results.atomic_write import saving


def fetch(entry: Entry, data_dir: str | Path | None = None, *, quiet: bool = False) -> Path:
    """Download a corpus into its folder and return that; nothing is done if it is there already.

    All is made ready beside the folder and put in its place by one renaming, so that an interruption leaves nothing.
    """
    folder = home(data_dir) / entry.name
    if folder.exists():
        refuse_others(entry, folder)
        return folder
    if entry.by_hand:
        raise BadData(f"{entry.name} cannot be fetched for you. {entry.by_hand}")
    with saving(folder.parent, "--data-dir"):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{entry.name}-", dir=folder.parent) as beside:
            made_ready(entry, Path(beside), quiet).rename(folder)
    return folder


def made_ready(entry: Entry, beside: Path, quiet: bool) -> Path:
    """The corpus, fetched into a folder beside its own, and checked."""
    archive, ready = beside / "archive", beside / "ready"
    ready.mkdir()
    for source in entry.sources or (Source(entry.where, files=tuple(entry.files)),):
        download(source.url, archive, quiet=quiet)
        check(entry, source, archive)
        put(source, archive, ready)
    check_files(entry, ready)
    return ready


def refuse_others(entry: Entry, folder: Path) -> None:
    """Raise unless the folder that is there holds the official files."""
    shelf = Shelf(entry, folder)
    wrong = shelf.unofficial()
    if wrong:
        readable = "" if shelf.missing() else f"; what is there can be read as it is (`whence data show {entry.name}`)"
        raise BadData(f"{folder} is there, but {', '.join(wrong)} are missing or not the official ones; "
                      f"move that folder away and call `whence data get {entry.name}` again{readable}")  # fmt: skip


def download(url: str, into: Path, *, quiet: bool = False) -> None:
    """Fetch a URL, with a progress bar unless it is to be `quiet`."""
    import pooch  # type: ignore[import-untyped]
    import requests

    try:
        pooch.HTTPDownloader(progressbar=not quiet)(url, str(into), None)
    except requests.HTTPError as error:
        raise BadData(f"{url} answered {error}; the corpus may have moved") from error
    except (requests.RequestException, OSError) as error:
        raise BadData(f"{url} cannot be reached ({type(error).__name__}); is there a network? Fetch it elsewhere and "
                      "unpack it into the folder that --data-dir or WHENCE_DATA names") from error  # fmt: skip


def check(entry: Entry, source: Source, sent: Path) -> None:
    """Raise if what was sent is not what was expected; say its checksum, if there is nothing to compare it with."""
    known_later = all(entry.files.get(name) for name in source.files or (source.keep,))
    if source.sha256 and sha256(sent) != source.sha256:
        raise BadData(f"what {source.url} sent has the sha256 {sha256(sent)}; {source.sha256} was expected: it was "
                      "changed, or damaged on the way; nothing was kept")  # fmt: skip
    if not source.sha256 and not known_later:
        print(f"{source.url} has the sha256 {sha256(sent)}; it could not be compared, since none was published",
              file=sys.stderr)  # fmt: skip


def put(source: Source, sent: Path, folder: Path) -> None:
    """Put what was sent into the folder: its files, or itself."""
    if source.files:
        take_out(sent, source.files, folder, source.url)
    else:
        (folder / source.keep).parent.mkdir(parents=True, exist_ok=True)
        sent.rename(folder / source.keep)


def check_files(entry: Entry, folder: Path) -> None:
    """Raise if a file is not the one that was expected."""
    for name in Shelf(entry, folder).altered():
        raise BadData(f"{name} from {entry.where} has the sha256 {sha256(folder / name)}; {entry.files[name]} was "
                      "expected: it was changed, or damaged on the way; nothing was kept")  # fmt: skip
