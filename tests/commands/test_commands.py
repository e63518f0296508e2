"""The commands at work: train, explain, run, audit, report."""

import json
import subprocess
import sys

import pytest

from support import saved_models
from support.command import whence
from support.torchless import WITHOUT_TORCH
from whence.attribution.registry import names
from whence.core.overrides import uniform
from whence.data.tables.reader import Columns, read_table
from whence.subject.metrics import accuracy
from whence.subject.subject import load


def test_train_then_explain(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("whence.data.registry.load", lambda *_, **__: saved_models.corpus())
    folder = tmp_path / "model"
    small = ("--epochs", 1, "--embedding-size", 4, "--hidden-size", 4)
    said = whence(capsys, "train", "additive", "--data", "reviews", *small, "--out", folder, "--json")
    trained = json.loads(said.out)
    assert (said.code, trained["split"], trained["folder"]) == (0, "test", str(folder))
    assert 0 <= trained["accuracy"] <= 1
    assert said.err == ""
    again = whence(capsys, "train", "additive", "--data", "reviews", *small, "--out", folder, "--quiet")
    assert f"% right on test ({len(saved_models.corpus()['test'])} examples)" in again.out
    other = whence(capsys, "train", "additive", "--data", "reviews", "--epochs", 2, "--out", folder, "--quiet")
    assert other.code == 2
    assert "holds a model of another training" in other.err
    shown = whence(
        capsys, "explain", folder, "the plot is dull", "--method", "raw_attention", "gradient_x_input", "--form", "html"
    )
    assert shown.code == 0
    assert shown.out.count("<tr") == 2
    assert ">dull<" in shown.out


@pytest.mark.parametrize(
    ("form", "begins"),
    [("text", ""), ("html", "<!doctype html>"), ("svg", "<svg"), ("latex", "\\begin"), ("json", "{")],
)
def test_explanations_take_many_forms(form, begins, capsys, tmp_path):
    said = whence(capsys, "explain", saved_models.bert(), "i found the plot dull", "--form", form)
    assert said.code == 0
    assert begins in said.out
    ending = {"text": "txt", "latex": "tex"}.get(form, form)
    whence(capsys, "explain", saved_models.bert(), "i found the plot dull", "--out", tmp_path / f"x.{ending}")
    assert (tmp_path / f"x.{ending}").read_text().strip() == said.out.strip()


def test_explain_as_json_and_pdf(capsys, tmp_path):
    said = whence(capsys, "explain", saved_models.bert(), "i found the plot dull", "--json", "--measure", "margin")
    found = json.loads(said.out)
    assert found["prediction"] in saved_models.LABELS
    assert set(found["scores"]) == {"raw_attention", "gradient_x_input", "leave_one_out", "random"}
    assert all(len(scores) == len(found["tokens"]) for scores in found["scores"].values())
    whence(capsys, "explain", saved_models.bert(), "so dull", "--form", "pdf", "--out", tmp_path / "x.pdf")
    assert (tmp_path / "x.pdf").read_bytes().startswith(b"%PDF")


def test_explain_states_which_attention_it_shows(capsys):
    said = whence(
        capsys,
        "explain",
        saved_models.bert(),
        "so dull",
        "--method",
        "raw_attention",
        "--layer",
        0,
        "--heads",
        1,
        "--row",
        "mean",
        "--json",
    )
    assert json.loads(said.out)["how"] == {"raw_attention": "layer: 0, heads: 1, from: mean"}


def test_run_in_words_and_as_json(capsys, tmp_path):
    asked = (
        "run",
        "permutation",
        "--model",
        saved_models.bert(),
        "--data",
        saved_models.labelled(),
        "--limit",
        5,
        "--permutations",
        2,
        "--out",
        tmp_path,
    )
    said = whence(capsys, *asked, "--quiet")
    assert (said.code, said.err) == (0, "")
    assert "permutation: 5 rows, one row per example and place" in said.out
    assert "note: took column 'text' as the text" in said.out
    assert "1. Does attention matter?" in said.out
    found = json.loads(whence(capsys, *asked, "--json").out)
    assert found["verdict"]["answer"] in ("yes", "no", "undecided")
    assert sorted(path.rsplit(".", 1)[1] for path in found["figures"]) == ["pdf", "png", "svg"]
    named = whence(capsys, *asked, "--columns.text", "label", "--columns.label", "label", "--quiet")
    assert named.code in (0, 2)


def test_a_bert_that_nobody_wrapped_is_audited_by_path_in_one_command(tmp_path):
    """In processes of their own: the audit, then its report once more without torch, the same to the byte.

    The two experiments that take longest are there already.
    """
    out, data = saved_models.with_the_plan(tmp_path / "audit"), saved_models.labelled()
    saved_models.with_finished_results(out, "faithfulness", "instance_adversary")
    given = ("audit", saved_models.bert(), data, *saved_models.AUDIT_OPTIONS, "--out", out, "--json")
    command = [sys.executable, "-m", "whence", *map(str, given)]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    assert said.stderr == ""
    found = json.loads(said.stdout)
    assert found["report"] == str(out / "report.html")
    (verdicts,) = found["verdicts"].values()
    assert verdicts["1"]["question"] == 1
    assert verdicts["1"]["answer"] in ("yes", "no", "undecided")
    assert "took column 'label' as the label" in found["notes"]["bert-200 on reviews-24.csv"]
    report = (out / "report.html").read_bytes()
    assert len(report) < 5_000_000
    assert b"Not asked: question" in report
    assert b"whence audit" in report
    (out / "report.html").unlink()
    rebuild = [sys.executable, "-c", f"{WITHOUT_TORCH}\nmain()", "report", str(out)]
    again = subprocess.run(rebuild, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert (out / "report.html").read_bytes() == report
    assert str(out / "report.html") in again.stdout


def test_train_and_show_take_named_columns(capsys, tmp_path):
    """And the accuracy of a model trained with equal weights is that with equal weights."""
    rows = [
        {"said": e.text, "tone": e.label, "other": "x" if n % 2 else "y", "split": ("train", "val", "test")[n % 3]}
        for n, e in enumerate(saved_models.corpus()["train"][:60])
    ]
    data = saved_models.table(tmp_path / "odd.csv", rows)
    named = ("--columns.text", "said", "--columns.label", "tone")
    assert "20 examples (" in whence(capsys, "data", "show", data, *named).out
    small = ("--epochs", 1, "--embedding-size", 4, "--hidden-size", 4, "--override", "uniform")
    said = whence(capsys, "train", "additive", "--data", data, *named, *small, "--out", tmp_path / "m")
    assert said.code == 0, said
    assert "took the split 'val' as dev" in said.err
    subject, corpus = load(tmp_path / "m"), read_table(data, Columns(text="said", label="tone"))
    share = accuracy(subject, corpus["test"], override={"*": uniform})
    assert f"{100 * share:.1f} % right on test" in said.out


def test_a_table_without_splits_says_what_training_needs(capsys, tmp_path):
    said = whence(capsys, "train", "additive", "--data", saved_models.labelled(), "--out", tmp_path / "m", "--quiet")
    assert said.code == 2
    assert "has the splits test; training needs train and dev. Give the table a column `split`" in said.err


def test_explain_takes_a_dtype_and_says_what_it_cut(capsys):
    said = whence(
        capsys,
        "explain",
        saved_models.bert(),
        "so dull " * 99,
        "--dtype",
        "float64",
        "--form",
        "latex",
        "--method",
        "random",
    )
    assert said.code == 0
    assert "was cut there" in said.err
    quiet = whence(capsys, "explain", saved_models.bert(), "so dull " * 99, "--quiet", "--method", "random")
    assert (quiet.err, "was cut there" in quiet.out) == ("", True)
    ignored = whence(capsys, "explain", saved_models.bert(), "dull", "--layer", 0, "--method", "random")
    assert (ignored.code, "not among the methods: random" in ignored.err) == (2, True)


def test_a_memory_that_is_too_small_gets_a_sentence(capsys, monkeypatch):
    def full(*_):
        raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes.")

    monkeypatch.setattr("whence.cli.dispatch", full)
    said = whence(capsys, "audit")
    assert said.code == 2
    assert said.err.startswith("whence: out of memory; use smaller batches (--batch-size auto, or 1)")


def test_explain_takes_options_paragraphs_and_any_method(capsys):
    given = ("explain", saved_models.bert(), "so dull a film")
    said = whence(
        capsys,
        *given,
        "--method",
        *names(),
        "--options",
        "rollout.without_sinks=0.2",
        "sinks.least=0.25",
        "flow.residual=false",
    )
    assert said.code == 0, said.err
    assert all(f"\n{name}: " in said.out for name in names())
    assert "sinks left out (" in said.out
    assert "mean weight above 0.25" in said.out
    assert "most important heads" in said.out
    dashed = whence(capsys, *given, "--method", "lat-mixed", "--options", "lat-mixed.normalize=l1")
    assert "normalize: l1" in dashed.out, dashed.err
    wrong = whence(capsys, *given, "--method", "rollout", "--options", "rollout.rows=3")
    assert (wrong.code, "rollout has no option 'rows'" in wrong.err) == (2, True)
    long = whence(capsys, "explain", saved_models.bert(), "so dull " * 99, "--paragraphs", "--method", "rollout")
    assert long.code == 0, long.err
    assert "read in paragraphs: " in long.out
