"""Bad input through the command line: one sentence, exit code 2, nothing lost and nothing half-written."""

import re
import shutil
from pathlib import Path

import pytest
import transformers

from support import saved_models
from support.command import whence
from support.refusals import audit, refused, written
from whence.commands.parse_errors import one_line
from whence.results.store import Store

TEXTS = ["the plot is dull", "i found the cast superb", "for me the music was weak", "the ending is great"]


LABELS = ["negative", "positive"]


def lines(path: Path, *rows: str) -> Path:
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


TABLES: dict[str, tuple[str | bytes | None, tuple[str, ...], tuple[str, ...]]] = {
    "missing": (None, (), ("there is no corpus", "no file of that name", "Choose from: clauses")),
    "empty": ("", (), ("is empty; a table with a header and rows was expected",)),
    "blank": (" \n\n", (), ("is empty",)),
    "header": ("text,label\n", (), ("has a header ('text', 'label') but no rows",)),
    "column": (
        "text,label\na b c,positive\n",
        ("--columns.label", "nope"),
        ("has no column 'nope' for the label", "it has: 'text', 'label'"),
    ),
    "one-class": (
        "text,label\n" + "the plot is dull,negative\n" * 9,
        (),
        ("has one class only (negative)", "expected at least two", "--columns.label"),
    ),
    "unknown-label": (
        "text,label\n" + "the plot is dull,negative\nso so,mixed\n" * 9,
        (),
        ("the label 'mixed' is unknown to the model, whose labels are: negative, positive", "Rename the labels"),
    ),
    "latin": (
        "text,label\ncaf\xe9 au lait,positive\n".encode("latin-1"),
        (),
        ("is not UTF-8: byte 14 (0xe9, in line 2)", "save the file again as UTF-8"),
    ),
    "no-text": (
        "text,label\n  ,negative\nthe plot,positive\n",
        (),
        ("column 'text' (the text) is empty in 1 of 2 rows", "fill or remove it"),
    ),
    "ragged": ("text,label\na,b,c\n", (), ("line 2: 2 cells were expected", "there are 3")),
    "split": ("text,label\nthe plot,negative\nthe cast,positive\n", ("--split", "dev"), ("has no split 'dev'",)),
    "format": ("text,label\n", (), ("is of no known format",)),
}


@pytest.mark.parametrize("case", TABLES)
def test_tables(case, capsys, tmp_path, out):
    content, options, words = TABLES[case]
    data = tmp_path / f"{case}.{'xlsx' if case == 'format' else 'csv'}"
    if content is not None:
        written(data, content)
    refused(audit(capsys, data, out, *options), *words)
    assert not out.exists()


def test_nan_in_a_parquet_is_an_empty_text(capsys, tmp_path, out):
    import pandas as pd

    data = tmp_path / "holes.parquet"
    pd.DataFrame({"text": ["the plot is dull", None], "label": LABELS}).to_parquet(data)
    refused(audit(capsys, data, out), "is empty in 1 of 2 rows (row 2, header not counted)")
    assert not out.exists()


def model_without_tokenizer(tmp_path: Path) -> Path:
    folder = tmp_path / "mute"
    shutil.copytree(saved_models.bert(), folder, ignore=shutil.ignore_patterns("*token*", "vocab*"))
    return folder


def model_without_attention(tmp_path: Path) -> Path:
    folder = tmp_path / "blind"
    words = saved_models.reviews_tokenizer()
    config = transformers.FNetConfig(
        vocab_size=len(words),
        hidden_size=8,
        num_hidden_layers=1,
        intermediate_size=8,
        id2label={0: "negative", 1: "positive"},
    )
    transformers.FNetForSequenceClassification(config).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def picture_model(tmp_path: Path) -> Path:
    folder = tmp_path / "eye"
    config = transformers.ViTConfig(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8, image_size=8, patch_size=4
    )
    transformers.ViTForImageClassification(config).save_pretrained(folder)
    return folder


MODELS = {
    "no-such-folder": (lambda tmp_path: tmp_path / "nope", ("there is no folder", "nope")),
    "no-network": (lambda _: "somebody/some-model", ("there is no folder somebody/some-model", "hub")),
    "a-file": (lambda _: saved_models.labelled(), ("is a file; expected a folder written by save_pretrained",)),
    "empty-folder": (lambda tmp_path: tmp_path, ("could not be loaded",)),
    "no-tokenizer": (model_without_tokenizer, ("tokenizer of", "save it next to the model")),
    "no-attention": (model_without_attention, ("attention",)),
    "pictures": (picture_model, ("tokenizer",)),
}


@pytest.mark.parametrize("case", MODELS)
def test_models(case, capsys, tmp_path, out):
    make, words = MODELS[case]
    refused(audit(capsys, saved_models.labelled(), out, model=make(tmp_path)), *words)
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("audit", "--budget", "-1"), ("budget: input should be greater than 0, got -1",)),
        (("audit", "--budget", "soon"), ("--budget: expected a number, got 'soon'; see `whence audit --help`",)),
        (("train", "additive", "--epochs", "many"), ("--epochs: expected a whole number, got 'many'; see",)),
        (("explain", "m", "t", "--layer", "x"), ("--layer: expected last, mean or a whole number, got 'x'; see",)),
        (("explain", "m", "t", "--mesure", "x"), ("no option --mesure; perhaps you meant --measure; see `whence exp",)),
        (("explain", "m", "a", "good", "film"), ("did not expect 'good', 'film' here; a text of several words needs",)),
        (("explain", "m"), ("expected TEXT|TABLE (the text to explain; or, with --out", "`whence explain --help`")),
        (("explain", "m", "t", "--row"), ("--row needs a value; see",)),
        (("audit", "m", "t", "--task", "x"), ("--task: expected one of causal-lm, seq2seq, sequence-classification,",)),
        (("audit", "--batch-size", "0"), ("batch_size: input should be greater than 0, got 0",)),
        (("audit", "--granularity", "layers"), ("--granularity: expected one of all, head, layer, got 'layers'",)),
        (("audit", "--nope"), ("--nope", "whence audit")),
        (("audit", "one", "two", "three"), ("did not expect 'three' here", "whence audit --help")),
        (("audit", "one"), ("the model one came without data; expected a table or a corpus after it",)),
        (("run", "permutation", "--model", "m", "--data", "d", "--permutations", "0"), ("permutations: input should",)),
        (("run", "ablation", "--model", "m", "--data", "d", "--variants"), ("variants",)),
        (("run", "permutation", "--model", "m"), ("--data",)),
        (
            ("run", "permutaton"),
            ("no experiment 'permutaton' (did you mean permutation?)", "ablation, adversary, alignment, controls"),
        ),
        (("train", "additve"), ("additve", "additive")),
        (("train", "additive", "--data", "nope"), ("there is no corpus 'nope'",)),
        (("data", "show"), ("needs the name of a corpus; see `whence data list`",)),
        (("data", "show", "review"), ("there is no corpus 'review'", "Did you mean reviews")),
        (("data", "get", "reviews"), ("reviews is synthetic", "nothing to download")),
        (("data", "fetch"), ("expected one of get, list, show, got 'fetch'",)),
        (("report", "/nowhere"), ("/nowhere holds no finished audit", "expected the folder that `whence audit --out`")),
        (("explain",), ("whence explain",)),
    ],
)
def test_options(arguments, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(whence(capsys, *arguments), *words)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "drawn",
    [
        "╭─ Value error ───╮\n│ not a number:   │\n│ 'abc'           │\n╰─────────────────╯\n",
        "Value error\n-------------------\nnot a number:\n'abc'\n-------------------\n",
    ],
    ids=["a box", "rules, where the screen knows no boxes"],
)
def test_what_was_drawn_for_a_screen_is_one_line(drawn):
    assert one_line(drawn) == "not a number: 'abc'"


def test_no_command_and_an_unknown_one(capsys):
    nothing, unknown = whence(capsys), whence(capsys, "adit")
    assert nothing.code == unknown.code == 2
    assert unknown.err.startswith("whence: no command 'adit'")
    assert "whence audit" in unknown.err
    assert unknown.out == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("", "--method", "random"), "the text is empty; expected words to explain"),
        (("dull", "--method", "gradient"), "no explainer 'gradient'"),
        (("dull", "--form", "pdf"), "name a file with --out"),
        (("dull", "--target", "trist"), "the label 'trist' is unknown to the model, whose labels are: negative, pos"),
        (("dull", "--pair", " "), "the second text is empty; expected words, or no second text"),
        (("dull", "--out", "/proc/nowhere/x.html", "--form", "html"), "could not write in /proc/nowhere/x.html"),
        (("dull", "--device", "abacus"), "the device 'abacus' cannot be used here"),
    ],
)
def test_explaining(arguments, words, capsys):
    refused(whence(capsys, "explain", saved_models.bert(), *arguments), words)


def test_bad_input_leaves_earlier_results_alone(capsys, tmp_path, out, finished):
    shutil.copytree(finished, out)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    refused(audit(capsys, lines(tmp_path / "one.csv", "text,label", *[f"{t},negative" for t in TEXTS]), out))
    refused(audit(capsys, saved_models.labelled(), out, "--columns.label", "nope"))
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


@pytest.mark.usefixtures("no_files_of_figures")
def test_a_text_of_a_hundred_thousand_tokens_is_cut_and_that_is_said(capsys, tmp_path, out):
    rows = [{"text": text, "label": LABELS[n % 2]} for n, text in enumerate([*TEXTS, "the plot is dull " * 25_000])]
    data = saved_models.table(tmp_path / "long.csv", rows)
    said = whence(
        capsys, "audit", saved_models.bert(), data, "--out", out, "--budget", 0.05, "--force", "--skip", "controls"
    )
    note = "1 of 5 texts were longer than the model's 64 tokens and were cut there"
    assert said.code == 0
    assert note in said.err
    assert all(note in result.manifest["notes"] for result in Store(out).all())
    assert note in re.sub("&#39;", "'", (out / "report.html").read_text())
    assert len((out / "report.html").read_bytes()) < 5_000_000


@pytest.mark.usefixtures("no_files_of_figures")
def test_a_script_in_the_users_text_stays_text(capsys, tmp_path, out):
    script = "<script>alert(1)</script>"
    model = saved_models.relabelled(tmp_path / "model", (script, "positive"))
    rows = [{"text": f"{script} {text}", "label": (script, "positive")[n % 2]} for n, text in enumerate(TEXTS * 3)]
    data = saved_models.table(tmp_path / f"{script.replace('/', '∕')}.csv", rows)
    assert audit(capsys, data, out, model=model).code == 0
    html = (out / "report.html").read_text()
    assert "<script" not in html.lower()
    assert "&lt;script&gt;alert(1)" in html
    for form in ("html", "svg"):
        said = whence(capsys, "explain", model, f"{script} the plot is dull", "--form", form, "--method", "random")
        assert said.code == 0
        assert "<script" not in said.out.lower()
