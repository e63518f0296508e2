"""Study files: what they hold, that they hold all that was published, and what a mistake in one says."""

import csv
import os
from collections import Counter
from pathlib import Path

import pytest

from whence.core.errors import BadConfig
from whence.reproducing import study as studies
from whence.reproducing.ledger_row import SIDES
from whence.reproducing.run import of_figure
from whence.reproducing.study import Picture, Run, read
from whence.results.experiment import experiment
from whence.training.config import Training

MINIMAL = """
name = "mine"
paper = "1"
title = "Mine"
about = "Nothing."
[[case]]
name = "one"
table = "Table 1"
system = "additive"
data = "reviews"
kind = "single"
"""


@pytest.fixture(params=studies.names())
def study(request):
    return read(request.param)


def test_every_training_and_every_experiment_of_a_study_is_one_that_there_is(study):
    for case in study.case:
        for run in filter(None, (case.quick, case.full)):
            Training(**run.training)
            experiment("ablation").config(model="m", data="d", **run.ablation)
    for figure in study.figure:
        for options in (figure.quick, figure.full):
            experiment(figure.experiment).config(**{"model": "m", "data": "d", **options})


def test_a_case_that_cannot_be_run_says_what_it_needs(study):
    for case in study.case:
        assert case.full is not None or case.needs, case.name


def published(study):
    """What a study holds, in the words of the list of published numbers: where, of what, on what, value, spread."""
    names = {"uniform": "Uniform", "random": "Random"}
    found = []
    for case in study.case:
        if case.published is not None:
            found.append((case.table, f"{case.system}, base", case.data, case.published.base, case.published.sd))
            for key, name in names.items():
                for when, value in zip(("train+infer", "infer"), getattr(case.published, key), strict=True):
                    found.append((case.table, f"{case.system}, {name}, {when}", case.data, value, None))
            found.append((case.table, f"{case.system}, Permute, infer", case.data, case.published.permuted, None))
    cases = {case.name: case for case in study.case}
    for figure in study.figure:
        data = cases[figure.cases[0]].data
        found += [(n.where or figure.name, n.system, data, n.value, n.sd) for n in figure.number if n.value is not None]
    return Counter(found + [(r.where, r.system, r.data, r.value, r.sd) for r in study.remark])


def valued(published):
    """A number, or a word that says on which side of zero one lies."""
    return published if published in SIDES else float(published)


def test_every_published_number_is_in_the_study(study):
    file = Path(os.environ.get("WHENCE_DATA", "nowhere")).parent / "papers" / "published.csv"
    if not file.is_file():
        pytest.skip("the list of published numbers is not beside WHENCE_DATA")
    with file.open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["paper"] == study.paper]
    listed = Counter(
        (r["where"], r["system"], r["data"], valued(r["value"]), float(r["sd"]) if r["sd"] else None) for r in rows
    )
    assert listed == published(study)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("name = ", "is not TOML"),
        (MINIMAL.replace('kind = "single"', 'kind = "triple"'), "kind"),
        (MINIMAL + "colour = 3\n", "colour"),
        (MINIMAL + '[[figure]]\nname = "F"\nabout = ""\nexperiment = "permutation"\ncases = ["two"]\n', "two"),
    ],
)
def test_a_mistake_in_a_file_gets_a_sentence(text, complaint, tmp_path):
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(BadConfig, match=complaint):
        read(str(tmp_path / "mine.toml"))


def test_a_study_that_is_not_there_and_a_table_that_is_not_in_it():
    with pytest.raises(BadConfig, match="Did you mean vashishth2019"):
        read("vashishth201")
    with pytest.raises(BadConfig, match="has no 'Table 9'; there are: Table 1, Table 2, Table 3"):
        read("vashishth2019").refuse_unknown("Table 9")


def test_what_is_wanted_by_table_figure_and_case():
    study = read("vashishth2019")

    def names(only):
        return [(case.name, [what.name for what in wanted]) for case, wanted in study.wanted("full", only)]

    assert {case for case, _ in names("table 3")} == {"Multi30k, Bahdanau", "Multi30k, Luong"}
    assert all(wanted == [case] for case, wanted in names("Table 3"))
    assert names("SST, Bahdanau") == [("SST, Bahdanau", ["SST, Bahdanau", "Figure 2", "Figure 3", "Proposition 4.1"])]
    assert ("SST, fine-tuned", ["Figure 4"]) in names("Figure 4")
    everything = dict(names(None))
    assert everything["SST, Bahdanau"] == ["SST, Bahdanau", "Figure 2", "Figure 3", "Proposition 4.1"]
    assert "Yelp, Bahdanau" not in everything


def test_figures_get_no_more_models_than_a_case_allows():
    run = Run(training={}, seeds=0, most=1)
    figure = Picture(name="Table 1", about="", experiment="score", cases=(), full={"retrain": 3, "limit": 5})
    assert of_figure(figure, run, "full") == {"retrain": 1, "limit": 5}
    assert of_figure(figure, Run(training={}, seeds=0), "full") == {"retrain": 3, "limit": 5}
    assert of_figure(figure, run, "quick") == {}
