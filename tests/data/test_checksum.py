"""Files are hashed once, and again when they have changed."""

import gzip
import hashlib
import os

from whence.data import checksum
from whence.data.checksum import sha256
from whence.data.examples import Corpus, Example


def settled(path, content: bytes, seconds: int = 0):
    """A file that was last changed long ago."""
    path.write_bytes(content)
    os.utime(path, (1_000_000 + seconds, 1_000_000 + seconds))
    return path


def test_a_file_is_read_once_until_it_changes(tmp_path, monkeypatch):
    read = []
    digest = checksum._digest

    def noted(path, gzipped):
        read.append(path)
        return digest(path, gzipped)

    monkeypatch.setattr(checksum, "_digest", noted)
    path = settled(tmp_path / "a", b"one")
    assert sha256(path) == sha256(path) == hashlib.sha256(b"one").hexdigest()
    assert len(read) == 1
    settled(path, b"two", seconds=1)
    assert sha256(path) == hashlib.sha256(b"two").hexdigest()
    path.write_bytes(b"six")  # changed just now: it may change again before the clock ticks
    sha256(path)
    assert sha256(path) == hashlib.sha256(b"six").hexdigest()
    assert len(read) == 4


def test_a_gzipped_file_counts_as_its_content(tmp_path):
    path = settled(tmp_path / "a.txt.gz", gzip.compress(b"one"))
    assert sha256(path, "a.txt") == hashlib.sha256(b"one").hexdigest()
    assert sha256(path) == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_corpus_is_hashed_once(monkeypatch):
    corpus = Corpus("c", {"test": (Example("a", "x"),)})
    first = corpus.checksum
    monkeypatch.setattr("whence.data.examples.hashlib.sha256", None)
    assert corpus.checksum == first
