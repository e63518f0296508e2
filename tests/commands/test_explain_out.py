"""`whence explain --out`: the file's ending says what is written; a table goes into rows."""

import json
from html.parser import HTMLParser

import pandas as pd
import pytest

from support import saved_models
from support.command import whence
from support.refusals import refused

TEXT = "i found the plot dull"


@pytest.mark.parametrize(
    ("ending", "begins"),
    [("txt", "n"), ("html", "<!doctype html>"), ("svg", "<svg"), ("tex", "\\begin"), ("json", "{"), ("pdf", "%PDF")],
)
def test_the_ending_says_what_is_written(ending, begins, capsys, tmp_path):
    out = tmp_path / f"x.{ending}"
    said = whence(capsys, "explain", saved_models.bert(), TEXT, "--out", out, "--method", "random", "--no-summary")
    assert said.code == 0
    assert said.out.startswith(f"Wrote {out}: ")
    assert out.read_bytes().decode("latin-1").startswith(begins)


def test_html_is_a_whole_page(capsys, tmp_path):
    out = tmp_path / "x.html"
    whence(capsys, "explain", saved_models.bert(), "<i> dull & good", "--out", out, "--json")
    page = out.read_text(encoding="utf-8")
    seen: list[str] = []
    reader = HTMLParser()
    reader.handle_starttag = lambda tag, attributes: seen.append(tag)  # type: ignore[method-assign, assignment]
    reader.feed(page)
    assert [seen.count(tag) for tag in ("html", "head", "title", "body", "table")] == [1] * 5
    assert '<meta charset="utf-8">' in page
    assert "explained: the margin of the logit of" in page
    assert "<i>" not in page


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            (TEXT, "--out", "x.png"),
            "--out x.png: no known ending; expected one of .txt, .html, .svg, .pdf, .tex, .json,",
        ),
        ((TEXT, "--out", "x"), "no known ending"),
        ((TEXT, "--out", "x.pdf", "--form", "html"), "--out x.pdf is for pdf and --form says html; leave one out"),
        (("none.csv", "--out", "x.parquet"), "there is no corpus 'none.csv' and no file of that name"),
        (("none.csv",), "none.csv is a table, whose scores go into a file"),
        (("reviews", "--out", "x.csv", "--flow", "y.html"), "a flow is drawn of one text"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_model_is_loaded(arguments, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("whence.subject.subject.load", lambda *_, **__: pytest.fail("loaded"))
    refused(whence(capsys, "explain", "some/model", *arguments), words)
    assert not list(tmp_path.iterdir())


def test_a_whole_table(capsys, tmp_path):
    out = tmp_path / "scores.parquet"
    asked = (
        "explain",
        saved_models.bert(),
        saved_models.labelled(),
        "--out",
        out,
        "--method",
        "random",
        "raw_attention",
    )
    said = whence(capsys, *asked, "--limit", 6, "--words")
    rows = pd.read_parquet(out)
    assert said.out == (
        f"Wrote {out}: {len(rows):,} rows, one per word and method (random, raw_attention), of 6 texts.\n"
    )
    assert rows["example"].nunique() == 6
    found = json.loads(whence(capsys, *asked, "--limit", 6, "--words", "--json").out)
    assert (found["rows"], found["examples"], found["methods"]) == (len(rows), 6, ["random", "raw_attention"])


def test_a_single_text_in_rows(capsys, tmp_path):
    out = tmp_path / "scores.csv"
    whence(capsys, "explain", saved_models.bert(), TEXT, "--out", out, "--method", "random", "--words")
    assert pd.read_csv(out)["token"].tolist() == TEXT.split()


def test_why_one_class_and_not_the_other(capsys):
    asked = ("explain", saved_models.bert(), TEXT, "--target", "positive", "--json", "--method", "leave_one_out")
    found = json.loads(whence(capsys, *asked, "--against", "negative").out)
    assert (found["explained"]["target"], found["explained"]["against"]) == ("positive", "negative")
    margin = json.loads(whence(capsys, *asked).out)
    assert found["scores"] == margin["scores"]  # there are two classes
    said = whence(capsys, *asked[:-3], "--against", "negative").out
    assert "explained: why positive, not negative: the difference of their logits, " in said
    refused(whence(capsys, *asked, "--against", "negative", "--measure", "logit"), "difference of their logits")
    refused(whence(capsys, *asked[:4], "great"), "the label 'great' is unknown to the model")
