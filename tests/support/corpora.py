"""What the tests of native corpora share: real corpora where they are, made ones where they are written."""

import gzip
import io
import os
import tarfile
from collections import Counter
from pathlib import Path
from typing import Literal

import pytest

from whence.data.examples import Corpus


def real(name: str) -> Path:
    """The folder that holds the folder of a real corpus; the test is skipped where there is none."""
    folder = Path(os.environ.get("WHENCE_DATA", "/nowhere"))
    if not (folder / name).is_dir():
        pytest.skip(f"WHENCE_DATA has no folder {name}")
    return folder


def written(folder: Path, name: str, text: str | bytes) -> Path:
    """A file, gzipped if its name says so."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    content = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def packed(members: dict[str, str | bytes], mode: Literal["w:gz", "w:bz2", "w"] = "w:gz") -> bytes:
    """A tar archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, text in members.items():
            content = text.encode() if isinstance(text, str) else text
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def labels(corpus: Corpus, split: str) -> tuple[int, ...]:
    """How many examples of each label a split has, in the order of the labels."""
    counted = Counter(e.label for e in corpus[split])
    return tuple(counted[label] for label in corpus.labels)
