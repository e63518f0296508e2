import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from whence.core.errors import BadData
from whence.data.lexical.vectors import read_vectors

LINES = "the 0.5 -1 2\n. . 1 2 3\nof 1e-3 0 4 \nthe 9 9 9\n"


def put(path: Path, content: str) -> Path:
    path.write_bytes(gzip.compress(content.encode()) if path.suffix == ".gz" else content.encode())
    return path


@pytest.mark.parametrize("header", ["", "4 3\n"])
@pytest.mark.parametrize("name", ["v.txt", "v.vec.gz"])
def test_only_wanted_words_are_read(tmp_path, name, header):
    found = read_vectors(put(tmp_path / name, header + LINES), {"the", "of", "absent", ". ."})
    assert set(found) == {"the", "of", ". ."}
    np.testing.assert_array_equal(found["the"], np.array([0.5, -1, 2], np.float32))
    np.testing.assert_array_equal(found["of"], np.array([0.001, 0, 4], np.float32))
    assert found["the"].dtype == np.float32


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("a 1 2 3\nb 1 2\n", "line 2: 3 numbers were expected after the word, as in the lines before; got 2"),
        ("a 1 2\nb 1 2 3\n", "line 2: 2 numbers were expected after the word, as in the lines before; got 3"),
        ("9 3\na 1 2\n", "line 2: 3 numbers were expected"),
        ("b 1 2\na 1 x\n", "line 2: a number was expected; got 'x'"),
        ("", "is empty"),
    ],
)
def test_ragged_lines_are_said(tmp_path, content, says):
    with pytest.raises(BadData, match=says):
        read_vectors(put(tmp_path / "v.txt", content), ["a"])


def test_a_missing_file_and_one_in_another_encoding_are_said(tmp_path):
    with pytest.raises(BadData, match="there is no file"):
        read_vectors(tmp_path / "v.txt", ["a"])
    (tmp_path / "v.txt").write_bytes(b"a 1 2\n\xe9 1 2\n")
    with pytest.raises(BadData, match="line 2 is not UTF-8"):
        read_vectors(tmp_path / "v.txt", ["a"])


def test_real_vectors():
    path = Path(os.environ.get("WHENCE_DATA", "/nowhere")) / "embeddings" / "glove.6B.50d.vocab.txt.gz"
    if not path.is_file():
        pytest.skip("WHENCE_DATA has no embeddings/glove.6B.50d.vocab.txt.gz")
    found = read_vectors(path, {"the", "king", "queen", "cabbage", "no-such-word-here"})
    assert set(found) == {"the", "king", "queen", "cabbage"}
    np.testing.assert_allclose(found["the"][:3], [0.418, 0.24968, -0.41242], rtol=1e-6)
    cosine = {w: found[w] @ found["king"] / np.linalg.norm(found[w]) / np.linalg.norm(found["king"]) for w in found}
    assert cosine["queen"] > cosine["cabbage"]
