"""`whence run memory` with no model at all; what it saved is drawn and judged without torch."""

import json

import whence as window
from support.command import whence
from support.torchless import judged
from whence.data.synthetic import recall


def test_memory_in_one_command(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(recall, "SIZES", {"train": 200, "dev": 40, "test": 120})
    asked = ("run", "memory", "--kinds", "rnn", "--seeds", 1, "--epochs", 1, "--width", 8, "--out", tmp_path)
    said = whence(capsys, *asked, "--quiet")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("memory: 120 rows, one row per model, seed and example")
    assert "None of the six questions: " in said.out
    found = json.loads(whence(capsys, *asked, "--json").out)
    assert found["verdict"]["question"] == 0
    assert [row["model"] for row in found["summary"]] == ["RNN"]
    assert {path.rpartition("-")[2] for path in found["figures"][3:]} >= {"speed.svg", "drift.png"}
    assert judged(found["folder"], "memory") == found["verdict"]["sentence"]
    again = window.run("memory", kinds=("rnn",), seeds=1, epochs=1, width=8, out=tmp_path)
    assert len(again.table) == 120


def test_memory_says_what_cannot_be(capsys, tmp_path):
    for options, complaint in (
        (("--data", "reviews"), "an item to be remembered was expected"),
        (("--kinds", "cnn"), "cnn"),
        (("--width", 6), "width: input should be a multiple of 4"),
        (("--data", "recall:sst", "--data-dir", tmp_path), "Stanford Sentiment Treebank"),
        (("--data", "recall:imdb"), "no variant recall:imdb; choose from: recall:apart, recall:sst, recall:multi30k"),
    ):
        said = whence(capsys, "run", "memory", "--out", tmp_path / "out", *options, "--quiet")
        assert said.code == 2
        assert complaint in said.err
