"""`whence data list | get | show` for corpora of all kinds."""

import gzip
import json

import pytest

from support.command import whence
from whence.data.registry import entries


def test_all_corpora_are_listed(capsys):
    said = whence(capsys, "data", "list")
    assert said.code == 0
    assert [line.split()[0] for line in said.out.splitlines()] == list(entries())
    rows = json.loads(whence(capsys, "data", "list", "--json").out)
    assert {row["name"]: row["kind"] for row in rows} == {name: entry.kind for name, entry in entries().items()}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("entailment", ("train  6000 examples (2000 contradiction, 2000 entailment, 2000 neutral)", "  rationale ")),
        ("numerals", ("test   500 examples", "tausend", "  links ")),
    ],
)
def test_synthetic_corpora_are_shown(capsys, name, words):
    said = whence(capsys, "data", "show", name)
    assert said.code == 0
    assert all(word in said.out for word in words)


def test_a_native_corpus_is_shown_with_its_notes(capsys, tmp_path):
    (tmp_path / "ag_news").mkdir()
    rows = b'"3","Oil","up"\n"1","Talks","go on"\n' * 10
    (tmp_path / "ag_news" / "train.head2000.csv.gz").write_bytes(gzip.compress(rows))
    (tmp_path / "ag_news" / "test.csv").write_bytes(rows)
    said = whence(capsys, "data", "show", "ag_news", "--data-dir", tmp_path)
    assert said.code == 0
    assert "test   20 examples (10 business, 10 world)" in said.out
    assert "note: train.csv is missing; read train.head2000.csv.gz instead" in said.out
    assert "text      Oil up" in said.out


def test_many_labels_are_not_all_listed(capsys, tmp_path):
    for folder in ("training", "validation", "test"):
        (tmp_path / "cnn" / "questions" / folder).mkdir(parents=True)
        for i in range(15):
            asked = f"url\n\n@entity{i} won\n\n@placeholder won\n\n@entity{i}\n\n@entity{i}:X"
            (tmp_path / "cnn" / "questions" / folder / f"{i}.question").write_text(asked, encoding="utf-8")
    said = whence(capsys, "data", "show", "cnn", "--data-dir", tmp_path)
    assert "and 3 more labels)" in said.out


def test_a_corpus_to_be_got_by_hand_says_how(capsys, tmp_path):
    said = whence(capsys, "data", "get", "yelp", "--data-dir", tmp_path)
    assert said.code != 0
    assert "accept its terms at https://www.yelp.com/dataset" in said.err
    missing = whence(capsys, "data", "show", "snli", "--data-dir", tmp_path)
    assert missing.code != 0
    assert "`whence data get snli`" in missing.err
