"""Study files: what they hold, that they hold all that was published, and what a mistake in one says."""

import csv
import os
from collections import Counter
from pathlib import Path

import pytest

from whence.core.errors import BadConfig
from whence.reproducing import study_files
from whence.reproducing.study import FigureSpec, Run
from whence.reproducing.study_files import read
from whence.results.experiment import experiment
from whence.training.config import Training

MINIMAL = """
name = "mine"
paper = "1"
title = "Mine"
about = "Nothing."
[[case]]
name = "one"
system = "additive"
data = "reviews"
group = "texts"
"""
LISTED_AS = {
    "accuracy": "base",
    "BLEU": "base",
    "uniform, train+infer": "Uniform, train+infer",
    "uniform, infer": "Uniform, infer",
    "random, train+infer": "Random, train+infer",
    "random, infer": "Random, infer",
    "permuted, infer": "Permute, infer",
}
FIGURE = """
[[figure]]
name = "Table 1"
about = ""
experiment = "score"
cases = ["one"]
"""
BARS = """
[[summary]]
kind = "bars"
name = "B"
about = ""
figures = ["Table 2"]
change = "q"
labels = ["a", "b"]
x_label = ""
"""
CELLS = {  # of Figure 5, as the list names them
    "right, relevant": "prediction correct, attention meaningful",
    "right, not relevant": "prediction correct, attention not meaningful",
    "wrong, relevant": "prediction wrong, attention meaningful",
    "wrong, not relevant": "prediction wrong, attention not meaningful",
}
CONDITIONS = {"raw_attention": "original", "permuted": "permuted"}
IN_THE_LIST = {"wu2020": "000", "varano2019": "001", "yang2019": "002", "vashishth2019": "003", "mrini2019": "004"}


@pytest.fixture(params=study_files.names())
def study(request):
    return read(request.param)


def test_every_training_and_every_experiment_of_a_study_is_one_that_there_is(study):
    for case in study.case:
        for run in filter(None, (case.quick, case.full)):
            Training(**run.training)
    for figure in study.figure:
        for options in (figure.quick, figure.full):
            experiment(figure.experiment).config(**{"model": "m", "data": "d", **options})
    for scale in ("quick", "full"):
        for _, run, figures in study.select(scale):
            assert set(run.options) <= {figure.experiment for figure in figures}, "options that nothing uses"
            for figure in figures:
                options = figure.options_for(run, scale)
                experiment(figure.experiment).config(**{"model": "m", "data": "d", **options})


def test_a_case_that_cannot_be_run_says_what_it_needs(study):
    for case in study.case:
        assert case.full is not None or case.needs, case.name


def answered(number, data):
    """A number of the human evaluation in the words of the list, whose bAbI is task 1."""
    data = data.removesuffix(" 1")
    if number.quantity == "kappa":
        return ("section 4.4", "two annotators", data, number.value, None)
    condition, _, cell = number.quantity.partition(": ")
    return ("Fig. 5", CELLS[cell], f"{data}, {CONDITIONS[condition]}", number.value, None)


def published(study):
    """What a study holds, in the words of the list of published numbers: where, of what, on what, value, spread."""
    cases = {case.name: case for case in study.case}
    found = []
    for figure in study.figure:
        data = cases[figure.cases[0]].data
        if figure.experiment == "human_evaluation":
            found += [answered(number, data) for number in figure.number]
            continue
        found += [(n.where or figure.name, n.system, data, n.value, n.sd) for n in figure.number if n.value is not None]
        once = {(cases[name].system, cases[name].data): cases[name] for name in reversed(figure.published)}
        for case in once.values():  # a number may be compared with ours in several modes
            name = case.name
            for number in figure.numbers_of(name):
                system = f"{case.system}, {LISTED_AS[number.quantity]}"
                found.append((figure.name, system, case.data, number.value, number.sd))
    return Counter(found + [(r.where, r.system, r.data, r.value, r.sd) for r in study.remark])


def valued(published):
    """A number, or a word that says on which side of zero one lies."""
    return published if published in ("falls", "rises", "true above random") else float(published)


def test_every_published_number_is_in_the_study(study):
    file = Path(os.environ.get("WHENCE_DATA", "nowhere")).parent / "papers" / "published.csv"
    if not file.is_file():
        pytest.skip("the list of published numbers is not beside WHENCE_DATA")
    with file.open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["paper"] == IN_THE_LIST[study.name]]
    listed = Counter(
        (r["where"], r["system"], r["data"], valued(r["value"]), float(r["sd"]) if r["sd"] else None) for r in rows
    )
    assert listed == published(study)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("name = ", "is not TOML"),
        (MINIMAL.replace('group = "texts"', "group = 3"), "group"),
        (MINIMAL + "colour = 3\n", "colour"),
        (MINIMAL + FIGURE.replace('["one"]', '["two"]'), "cases that do not exist: two"),
        (MINIMAL + FIGURE + 'number = [{ quantity = "q", value = "falls" }]', "add side"),
        (
            MINIMAL + FIGURE + 'quantities = ["q"]\npublished = { one = [1.0, 2.0] }',
            "Table 1, one: expected one .* got 2",
        ),
        (MINIMAL + FIGURE + BARS, "figures that do not exist: Table 2"),
        (MINIMAL + FIGURE + BARS.replace("bars", "pie"), "pie"),
    ],
)
def test_a_mistake_in_a_file_gets_a_sentence(text, complaint, tmp_path):
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(BadConfig, match=complaint):
        read(str(tmp_path / "mine.toml"))


def test_a_study_that_is_not_there_and_a_table_that_is_not_in_it():
    with pytest.raises(BadConfig, match="Did you mean vashishth2019"):
        read("vashishth201")
    with pytest.raises(BadConfig, match="has no 'Table 9'; choose from: Table 1, Table 2, Table 3"):
        read("vashishth2019").refuse_unknown("Table 9")


def test_what_is_wanted_by_table_figure_and_case():
    study = read("vashishth2019")

    def names(only):
        return [(case.name, [what.name for what in wanted]) for case, _, wanted in study.select("full", only)]

    assert {case for case, _ in names("table 3")} == {"Multi30k, Bahdanau", "Multi30k, Luong", "Tatoeba, Luong"}
    assert all(wanted == ["Table 3"] for _, wanted in names("Table 3"))
    assert names("SST, Bahdanau") == [("SST, Bahdanau", ["Table 1", "Figure 2", "Figure 3", "Proposition 4.1"])]
    assert ("SST, fine-tuned", ["Figure 4"]) in names("Figure 4")
    everything = dict(names(None))
    assert everything["SST, Bahdanau"] == ["Table 1", "Figure 2", "Figure 3", "Proposition 4.1"]
    assert "Yelp, Bahdanau" not in everything


def test_figures_get_no_more_models_than_a_case_allows_and_its_own_options():
    figure = FigureSpec(name="Table 1", about="", experiment="score", cases=(), full={"retrain": 3, "limit": 5})
    assert figure.options_for(Run(training={}, max_seeds=1), "full") == {"retrain": 1, "limit": 5}
    assert figure.options_for(Run(training={}), "full") == {"retrain": 3, "limit": 5}
    assert figure.options_for(Run(training={}, max_seeds=1), "quick") == {}
    own = Run(training={}, options={"score": {"limit": 9}, "seeds": {"limit": 2}})
    assert figure.options_for(own, "full") == {"retrain": 3, "limit": 9}
