"""Text that is no text: one sentence and exit code 2 in every command, whether it is an argument, a table or a file."""

import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet
import pytest

from support import saved_models
from support.command import whence
from support.refusals import audit, refused, written
from whence.api import explain
from whence.cli import COMMANDS
from whence.core.errors import BadData
from whence.core.unicode import surrogate_place
from whence.data.examples import Example
from whence.reproducing.ledger import replace_part

LATIN = b"text,label\na \xff film,positive\nb c,negative\n"
JSON = '{"text": "a film", "label": "positive"}\n{"text": "%s", "label": "%s", "split": "%s"}\n'
TABLES = {
    "latin.csv": (LATIN, "is not UTF-8: byte 13 (0xff, in line 2)"),
    "text.jsonl": (
        JSON % (r"so \ud800 dull", "negative", "test"),
        "line 2 is not Unicode text: expected whole characters",
    ),
    "label.jsonl": (JSON % ("dull", r"neg\udfff", "test"), "there is U+DFFF, half a surrogate pair"),
    "split.jsonl": (JSON % ("dull", "negative", r"te\ud9abst"), "U+D9AB"),
    "column.jsonl": ('{"text": "a", "label": "b", "\\ud800": 1}\n', "U+D800"),
    "words.csv": ('tokens,label\n"[""so"", ""\\ud800""]",a\n"[""b""]",b\n', "row 1: the text is not Unicode"),
}


def commands(path, tmp_path):
    model, out = saved_models.bert(), tmp_path / "out"
    return {
        "audit": ("audit", model, path, "--out", out, "--budget", 0.05, "--force", "--skip", "controls", "--quiet"),
        "run": ("run", "score", "--model", model, "--data", path, "--out", out),
        "train": ("train", "additive", "--data", path, "--out", out),
        "data": ("data", "show", path),
    }


@pytest.mark.parametrize("command", ["audit", "run", "train", "data"])
@pytest.mark.parametrize("name", TABLES)
def test_tables(name, command, capsys, tmp_path):
    content, words = TABLES[name]
    refused(whence(capsys, *commands(written(tmp_path / name, content), tmp_path)[command]), words)
    assert not (tmp_path / "out").exists()


def test_parquet(capsys, tmp_path):
    texts = pa.array([b"a \xff film", b"b"]).view(pa.string())
    pyarrow.parquet.write_table(pa.table({"text": texts, "label": ["a", "b"]}), tmp_path / "t.parquet")
    refused(audit(capsys, tmp_path / "t.parquet", tmp_path / "out"), "t.parquet", "not UTF-8", "as UTF-8")


@pytest.mark.parametrize("option", ["lexicon", "study"])
def test_other_files(option, capsys, tmp_path):
    file = written(tmp_path / f"{option}.{'toml' if option == 'study' else 'csv'}", b"word,value\ngood\xff,1\n")
    data = ("--model", saved_models.bert(), "--data", saved_models.labelled(), "--out", tmp_path / "out")
    asked = {
        "lexicon": ("run", "lexicon", *data, "--lexicon", file),
        "study": ("reproduce", file),
    }
    refused(whence(capsys, *asked[option]), file.name, "is not UTF-8", "again as UTF-8")


def test_a_ledger_that_cannot_be_added_to(tmp_path):
    with pytest.raises(BadData, match=r"ledger\.md is not UTF-8 at byte 2; save it again"):
        replace_part(written(tmp_path / "ledger.md", b"# \xff"), "a study", "its part")


@pytest.mark.parametrize("command", COMMANDS)
def test_arguments_that_are_no_text(command, capsys):
    said = refused(whence(capsys, command, "a \udcff film"), "argument 2 is not UTF-8", "character 3 is the byte 0xff")
    assert r"'a \udcff film'" in said
    refused(whence(capsys, command, "fine", "--out", "\ud800"), "argument 4 is not UTF-8", "character 1 is U+D800")


def test_bytes_from_a_shell():
    """What the system makes of them: in a process of its own, under two encodings."""
    for encoding in ({"LC_ALL": "C.UTF-8"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}):
        asked = [sys.executable, "-m", "whence", "explain", "m", b"a \xff film"]
        done = subprocess.run(asked, env=os.environ | encoding, capture_output=True, check=False)
        assert done.returncode == 2
        assert done.stderr.startswith(b"whence: argument 3 is not UTF-8")
        assert done.stderr.count(b"\n") == 1
        assert done.stdout == b""


@pytest.mark.parametrize("options", [{"text": "a \ud800"}, {"text": "a", "pair": "\udcff"}])
def test_from_python(options):
    with pytest.raises(BadData, match=r"the (text|pair) is not Unicode text"):
        explain(saved_models.bert(), **options)
    with pytest.raises(BadData, match=r"one of the tags is not Unicode text.*U\+DC80"):
        Example("a b", words=("a", "b"), tags=("x", "\udc80"))


@pytest.mark.parametrize(
    ("text", "place"),
    [("plain", None), ("héllo 🎬", None), ("", None), ("a\ud800", 1), ("🎬\udfff🎬", 1), ("\udcff", 0)],
)
def test_where_a_half_is(text, place):
    assert surrogate_place(text) == place
    halves = [number for number, letter in enumerate(text) if 0xD800 <= ord(letter) <= 0xDFFF]
    assert next(iter(halves), None) == place
