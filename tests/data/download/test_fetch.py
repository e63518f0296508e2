"""Corpora of several archives and single files, from a place on this machine."""

import gzip
import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from support.corpora import packed
from whence.core.errors import BadData
from whence.data import registry
from whence.data.download.corpus_folder import CorpusFolder
from whence.data.download.fetch import fetch
from whence.data.entry import Entry, Source
from whence.data.examples import Corpus
from whence.results.errors import CannotSave

ZIP = io.BytesIO()
with zipfile.ZipFile(ZIP, "w") as archive:
    archive.writestr("deep/inside/one.txt", "one")
SENT = {
    "a.zip": ZIP.getvalue(),
    "b.tgz": packed({"en/qa.txt": "en", "en-10k/qa.txt": "en-10k", "other.txt": "other"}),
    "c.tar": packed({"x/two.txt": "two"}, "w"),
    "d.txt.gz": gzip.compress(b"four"),
    "e.csv": b"five",
}


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def place(monkeypatch) -> Iterator[str]:
    """An official place on this machine that sends what is asked for."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = SENT.get(self.path[1:])
            self.send_response(200 if content is not None else 404)
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def entry(*sources: Source, **rest) -> Entry:
    files = rest.pop("files", {name: "" for source in sources for name in (*source.files, source.keep) if name})
    return Entry(
        "made",
        "made up",
        "none",
        "native",
        lambda folder: Corpus("made", {}),
        url="http://page",
        files=files,
        sources=sources,
        **rest,
    )


def test_several_archives_and_single_files(place, tmp_path):
    folder = fetch(
        entry(
            Source(f"{place}/a.zip", sha(SENT["a.zip"]), ("one.txt",)),
            Source(f"{place}/b.tgz", sha(SENT["b.tgz"]), ("en-10k/qa.txt", "en/qa.txt")),
            Source(f"{place}/c.tar", sha(SENT["c.tar"]), ("two.txt",)),
            Source(f"{place}/d.txt.gz", sha(SENT["d.txt.gz"]), keep="d.txt.gz"),
            Source(f"{place}/e.csv", sha(SENT["e.csv"]), keep="sub/e.csv"),
        ),
        tmp_path,
    )
    there = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert there == {
        "one.txt": b"one",
        "en-10k/qa.txt": b"en-10k",
        "en/qa.txt": b"en",
        "two.txt": b"two",
        "d.txt.gz": SENT["d.txt.gz"],
        "sub/e.csv": b"five",
    }
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def test_a_checksum_that_nobody_published_is_said(place, tmp_path, capsys):
    known, unknown = Source(f"{place}/e.csv", keep="e.csv"), Source(f"{place}/d.txt.gz", keep="d.txt.gz")
    fetch(entry(known, unknown, files={"e.csv": sha(b"five"), "d.txt.gz": ""}), tmp_path)
    heard = capsys.readouterr().err
    assert f"d.txt.gz has the sha256 {sha(SENT['d.txt.gz'])}; it could not be verified" in heard
    assert "e.csv has the sha256" not in heard


@pytest.mark.parametrize(
    ("name", "source", "says"),
    [
        ("a.zip", {"sha256": "0" * 64, "files": ("one.txt",)}, r"a\.zip has the sha256 .*; 0{64} was expected"),
        (
            "b.tgz",
            {"files": ("qa.txt", "gone.txt")},
            r"b\.tgz holds no gone\.txt; it holds: other\.txt, qa\.txt, qa\.txt",
        ),
        ("e.csv", {"files": ("one.txt",)}, "is neither a zip nor a tar archive"),
        ("nowhere", {"keep": "x"}, "answered 404"),
    ],
)
def test_what_goes_wrong_is_said_and_leaves_nothing(place, tmp_path, name, source, says):
    first = Source(f"{place}/d.txt.gz", keep="d.txt.gz")
    with pytest.raises(BadData, match=says):
        fetch(entry(first, Source(f"{place}/{name}", **source)), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_single_file_that_was_changed_is_refused(place, tmp_path):
    with pytest.raises(BadData, match=r"e\.csv from .* has the sha256 .*nothing was kept"):
        fetch(entry(Source(f"{place}/e.csv", keep="e.csv"), files={"e.csv": sha(b"six")}), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_parts_can_be_read_but_is_not_the_official_one(tmp_path):
    made = entry(Source("http://nowhere", keep="train.csv"), substitutes={"train.csv": ("part.csv",)})
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "part.csv").write_bytes(b"x")
    with pytest.raises(BadData, match=r"but train\.csv are missing .*what is there can be read as it is"):
        fetch(made, tmp_path)
    folder = CorpusFolder(made, tmp_path / "made")
    assert folder.paths("train.csv") == [tmp_path / "made" / "part.csv"]
    assert folder.notes == ["train.csv is missing; read part.csv instead"]


def test_a_gzipped_official_file_is_the_official_one(tmp_path):
    made = entry(Source("http://nowhere", keep="e.csv"), files={"e.csv": sha(b"five")})
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "e.csv.gz").write_bytes(gzip.compress(b"five"))
    assert fetch(made, tmp_path) == tmp_path / "made"
    (tmp_path / "made" / "e.csv.gz").write_bytes(gzip.compress(b"six"))
    assert CorpusFolder(made, tmp_path / "made").modified() == ["e.csv"]


def test_a_folder_that_cannot_be_written_is_told():
    with pytest.raises(CannotSave, match=r"could not write in /proc/whence: .*another folder with --data-dir"):
        registry.get("sst", "/proc/whence")
