"""People's answers beside published ones: which numbers belong to a study, and a figure that only people can run."""

import json
from dataclasses import replace

import pytest

from support import studies
from support.command import whence
from whence.analysis.human_evaluation import CELLS
from whence.annotation.answers import SYNTHETIC, Answer, AnswerFile
from whence.annotation.study import read_study, save_study
from whence.data.synthetic import reviews
from whence.measures.intervals import Interval
from whence.reproducing.answered import published_rows

IMDB = (79.5, 11.5, 4.5, 4.5, 9.5, 74.5, 2.5, 13.5)  # Vashishth et al. 2019, Figure 5 (a) and (b), in reading order
BABI = (97.0, 1.0, 1.5, 0.5, 9.5, 14.5, 12.5, 63.5)
NAMES = [f"{condition}: {cell}" for condition in ("raw_attention", "permuted") for cell, *_ in CELLS]
STUDY = """
name = "mine"
paper = "Somebody"
title = "Mine"
about = "Nothing."
[[case]]
name = "one"
system = "additive"
data = "reviews"
[case.quick]
training = { model = "additive", data = "reviews:plain", embedding_size = 8, hidden_size = 8, epochs = 1 }
[[figure]]
name = "Figure 1"
about = "What people say."
experiment = "human_evaluation"
cases = ["one"]
needs = "people"
number = [{ quantity = "permuted: right, relevant", value = 12.5 }]
"""


@pytest.mark.parametrize(
    ("corpus", "cells", "kappa"), [("imdb", IMDB, 0.84), ("imdb:short", IMDB, 0.84), ("babi:1", BABI, 0.82)]
)
def test_every_published_number_stands_beside_ours(corpus, cells, kappa):
    near = {name: Interval(value + 1, value - 4, value + 6) for name, value in zip(NAMES, cells, strict=True)}
    rows = published_rows(corpus, {**near, "kappa": Interval(0.5, 0.4, 0.6)}, 100)
    assert {row.quantity: row.published for row in rows} == {**dict(zip(NAMES, cells, strict=True)), "kappa": kappa}
    assert {row.status for row in rows if row.quantity != "kappa"} == {"reproduced"}
    assert [(row.ours, row.status) for row in rows if row.quantity == "kappa"] == [(0.5, "differs")]
    assert {row.where.partition(",")[0] for row in rows} == {"Vashishth et al. 2019"}
    assert {row.status for row in published_rows(corpus, near, 100, simulated=True)} == {"simulated, not compared"}


def test_other_corpora_have_none():
    assert published_rows("babi:2", {}, 100) == []
    assert published_rows("reviews", {}, 100) == []


def test_the_analysis_prints_them(tmp_path, capsys):
    made = studies.study(n=60)
    made = replace(made, about={**made.about, "corpus": "imdb"})
    save_study(made, tmp_path)
    for name, given in (
        ("ada", "yn" * 30),
        ("ben", "yn" * 29 + "nn"),
    ):  # the method's items relevant, the control's not
        AnswerFile(tmp_path, made, name).append(studies.answers(made, given).values())
    rows = json.loads(whence(capsys, "annotate", "analyse", str(tmp_path), "--json").out)["published"]
    ours = {row["quantity"]: row["ours"] for row in rows}
    assert ours["raw_attention: right, relevant"] == pytest.approx(100 * 39 / 60)  # of 30 items, 20 right
    assert ours["permuted: right, not relevant"] == pytest.approx(100 * 40 / 60)
    text = whence(capsys, "annotate", "analyse", str(tmp_path)).out
    assert "Vashishth et al. 2019, Figure 5a  Bahdanau  IMDB  raw_attention: right, relevant" in text
    assert "79.5" in text


@pytest.mark.usefixtures("figures_as_svg_alone")
def test_a_figure_that_needs_people_is_run_with_their_answers_alone(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(reviews, "SIZES", {"train": 200, "dev": 40, "test": 60})
    (tmp_path / "mine.toml").write_text(STUDY)
    out, folder, page = tmp_path / "out", tmp_path / "study", tmp_path / "page.md"
    given = ("reproduce", tmp_path / "mine.toml", "--out", out, "--ledger", page, "--quiet")
    said = whence(capsys, *given)
    assert said.code == 0, said.err
    assert "not run: needs people" in (tmp_path / "page" / "mine.md").read_text()
    (model,) = (out / "models").iterdir()
    asked = ("--data", "reviews:plain", "--items", 6, "--out", folder, "--quiet")
    assert whence(capsys, "annotate", "prepare", "--model", model, *map(str, asked)).code == 0
    study = read_study(folder)
    right = [secret for secret in study.key().values() if secret.conditions == ("permuted",) and secret.correct]
    AnswerFile(folder, study, "ada").append([Answer(item.id, "yes") for item in study.items])
    rows = json.loads(whence(capsys, *given, "--annotations", folder, "--json").out)["rows"]
    assert [(row["published"], row["ours"]) for row in rows] == [(12.5, pytest.approx(100 * len(right) / 6))]
    AnswerFile(folder, study, f"{SYNTHETIC}1", synthetic=True).append([Answer(item.id, "yes") for item in study.items])
    refused = whence(capsys, *given, "--annotations", folder)
    assert (refused.code, "no person" in refused.err) == (2, True)
