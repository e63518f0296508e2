"""Download a native corpus from its official source: verified, and written completely or not at all."""

import sys
import tempfile
from pathlib import Path

from whence.core.errors import BadData
from whence.data.checksum import sha256
from whence.data.download.archives import extract
from whence.data.download.corpus_folder import CorpusFolder, data_folder
from whence.data.entry import Entry, Source
from whence.results.atomic_write import saving


def fetch(entry: Entry, data_dir: str | Path | None = None, *, quiet: bool = False) -> Path:
    """Download a corpus into its folder and return that; does nothing if it is there already.

    Everything is prepared in a temporary folder, which one renaming puts in place: an interruption leaves nothing.
    """
    folder = data_folder(data_dir) / entry.name
    if folder.exists():
        check_folder(entry, folder)
        return folder
    if entry.manual_download:
        raise BadData(f"{entry.name} cannot be downloaded automatically. {entry.manual_download}")
    with saving(folder.parent, "--data-dir"):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{entry.name}-", dir=folder.parent) as temporary:
            prepare(entry, Path(temporary), quiet).rename(folder)
    return folder


def prepare(entry: Entry, temporary: Path, quiet: bool) -> Path:
    """The corpus, downloaded into a temporary folder and verified."""
    archive, ready = temporary / "archive", temporary / "ready"
    ready.mkdir()
    for source in entry.sources or (Source(entry.url, files=tuple(entry.files)),):
        download(source.url, archive, quiet=quiet)
        check_download(entry, source, archive)
        unpack(source, archive, ready)
    check_files(entry, ready)
    return ready


def check_folder(entry: Entry, path: Path) -> None:
    """Raise unless the existing folder holds the official files."""
    folder = CorpusFolder(entry, path)
    wrong = folder.unofficial()
    if wrong:
        readable = "" if folder.missing() else f"; what is there can be read as it is (`whence data show {entry.name}`)"
        raise BadData(
            f"{path} is there, but {', '.join(wrong)} are missing or not the official ones; "
            f"move that folder away and call `whence data get {entry.name}` again{readable}"
        )


def download(url: str, into: Path, *, quiet: bool = False) -> None:
    """Download a URL, with a progress bar unless `quiet`."""
    import pooch
    import requests

    try:
        pooch.HTTPDownloader(progressbar=not quiet)(url, str(into), None)
    except requests.HTTPError as error:
        raise BadData(f"{url} answered {error}; the corpus may have moved") from error
    except (requests.RequestException, OSError) as error:
        raise BadData(
            f"{url} cannot be reached ({type(error).__name__}); is there a network? Download it elsewhere and "
            "unpack it into the folder that --data-dir or WHENCE_DATA names"
        ) from error


def check_download(entry: Entry, source: Source, downloaded: Path) -> None:
    """Raise if the download is not the expected one; print its checksum, if there is nothing to compare it with."""
    files_are_checked = all(entry.files.get(name) for name in source.files or (source.keep,))
    if source.sha256 and sha256(downloaded) != source.sha256:
        raise BadData(
            f"the download from {source.url} has the sha256 {sha256(downloaded)}; {source.sha256} was expected: it "
            "was changed at its source, or damaged on the way; nothing was kept"
        )
    if not source.sha256 and not files_are_checked:
        print(
            f"{source.url} has the sha256 {sha256(downloaded)}; it could not be verified, since none was published",
            file=sys.stderr,
        )


def unpack(source: Source, downloaded: Path, folder: Path) -> None:
    """Put the files of an archive into the folder, or the download itself."""
    if source.files:
        extract(downloaded, source.files, folder, source.url)
    else:
        (folder / source.keep).parent.mkdir(parents=True, exist_ok=True)
        downloaded.rename(folder / source.keep)


def check_files(entry: Entry, folder: Path) -> None:
    """Raise if a file is not the expected one."""
    for name in CorpusFolder(entry, folder).modified():
        raise BadData(
            f"{name} from {entry.url} has the sha256 {sha256(folder / name)}; {entry.files[name]} was "
            "expected: it was changed at its source, or damaged on the way; nothing was kept"
        )
