"""Ours beside theirs: values by hand, statuses at their edges."""

import math

import pandas as pd
import pytest

from whence.experiments import score
from whence.experiments.ablation import COLUMNS
from whence.measures.bootstrap import Interval
from whence.reproducing.compare import based, lines_of, lines_of_figure, over_seeds
from whence.reproducing.ledger_row import as_text, found_of, stated, stated_of_p, stated_of_word
from whence.reproducing.relative_loss import controls, finding, published_falls, relative_falls
from whence.reproducing.study import Case, Number, Picture, Study, read
from whence.results.result import Result


def table(base, altered, counts=None):
    """Scores of examples, by seed, with equal weights in training."""
    rows = [
        {"example": number, "label": "a", "place": "all", "variant": "uniform", "when": when, "seed": seed,
         "base": before, "altered": after, "base_counts": counts and counts[0], "altered_counts": counts and counts[1]}
        for when in ("train+infer", "infer")
        for seed, (first, second) in enumerate(zip(base, altered, strict=True))
        for number, (before, after) in enumerate(zip(first, second, strict=True))
    ]  # fmt: skip
    return COLUMNS.table(rows)


def case(**options):
    said = {"name": "c", "table": "Table 1", "system": "s", "data": "d", "kind": "single", "needs": "time"}
    return Case(**{**said, **options})


PUBLISHED = {"base": 80.0, "sd": 0.5, "uniform": (-10.0, -20.0), "random": (-1.0, -2.0), "permuted": -3.0}


def test_the_score_and_the_changes_by_hand():
    both = table([[1, 1, 1, 0], [1, 1, 0, 0]], [[1, 0, 0, 0], [1, 1, 0, 0]])
    lines = {line.quantity: line for line in lines_of(case(published=PUBLISHED), both, "full")}
    assert lines["accuracy"].ours == pytest.approx(100 * (0.75 + 0.5) / 2)
    assert lines["uniform, train+infer"].ours == pytest.approx(-100 * (0.5 + 0.0) / 2)
    assert lines["uniform, train+infer"].low <= -25 <= lines["uniform, train+infer"].high <= 0
    assert (lines["accuracy"].n, lines["accuracy"].seeds, lines["accuracy"].published) == (4, 2, 80.0)


def test_bleu_is_of_the_corpus_not_the_mean_of_sentences():
    counts = ("4 3 2 1 5 4 3 2 5 5", "4 0 0 0 5 4 3 2 5 5")
    (score, *_) = lines_of(case(), table([[0.5, 0.7]], [[0.1, 0.2]], counts), "full")
    assert score.quantity == "BLEU"
    assert score.ours == pytest.approx(100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25)


@pytest.mark.parametrize(
    ("published", "scale", "status"),
    [
        (None, "full", "control"),
        (71.9, "full", "reproduced"),  # within two points
        (73.0, "full", "reproduced"),  # within the interval
        (73.1, "full", "differs"),
        (65.9, "full", "differs"),
        (71.9, "quick", "other data"),
    ],
)
def test_status(published, scale, status):
    assert stated(published, Interval(70.0, 67.0, 73.0), scale) == status


def test_a_wide_interval_agrees_with_nothing_and_a_published_spread_counts():
    assert stated(90.0, Interval(70.0, 50.0, 100.0), "full") == "undecided"
    assert stated(71.0, Interval(70.0, 50.0, 100.0), "full") == "reproduced"
    assert stated(74.0, Interval(70.0, 69.0, 71.0), "full", sd=4.3) == "reproduced"
    assert stated(74.0, Interval(70.0, 69.0, 71.0), "full", sd=0.5) == "differs"


def test_what_was_not_run_says_what_it_needs():
    lines = lines_of(case(published=PUBLISHED), None, "full")
    assert len(lines) == 6
    assert {line.status for line in lines} == {"not run: needs time"}
    assert all(line.ours is None for line in lines)
    assert "not run: needs time" in as_text(lines)


def test_what_was_published_and_left_out_of_a_run_says_so():
    """The model was trained with equal weights only: random ones in training are not there."""
    lines = {line.quantity: line for line in lines_of(case(published=PUBLISHED), table([[1, 0]], [[0, 0]]), "full")}
    assert set(lines) == {"accuracy", "uniform, train+infer", "uniform, infer", "random, train+infer", "random, infer",
                          "permuted, infer"}  # fmt: skip
    assert lines["random, train+infer"].status == "not run: needs time"
    assert lines["uniform, infer"].ours == -50


FIGURE = Picture(
    name="section 6", about="", experiment="score", cases=("c",), within=1.0,
    number=(Number(quantity="accuracy", value=74.5, sd=0.2), Number(quantity="p of nothing", value=0.2)),
)  # fmt: skip


def score_table(*runs):
    """Right and wrong answers by seed."""
    return score.COLUMNS.table([
        {"example": number, "label": "a", "seed": seed, "measure": "accuracy", "score": mark,
         "counts": None}
        for seed, marks in enumerate(runs) for number, mark in enumerate(marks)
    ])  # fmt: skip


def test_the_numbers_of_an_experiment_beside_the_published_ones():
    result = Result("score", score_table([1, 1, 1, 0], [1, 1, 0, 1]), {"corpus": {"n": 4}})
    found, missing = lines_of_figure(FIGURE, case(mode="paper"), [result], "full")
    assert (found.where, found.system, found.ours, found.status) == ("section 6", "s, paper", 75.0, "reproduced")
    assert (found.n, found.seeds) == (4, 2)
    assert missing.status == "not run: needs time"
    assert lines_of_figure(FIGURE, case(), [], "full")[0].status == "not run: needs time"


def test_a_number_that_nobody_published_is_a_control():
    figure = FIGURE.model_copy(update={"number": (Number(quantity="accuracy"), Number(quantity="p of nothing"))})
    result = Result("score", score_table([1, 1, 1, 0]), {"corpus": {"n": 4}})
    for scale in ("quick", "full"):
        found, missing = lines_of_figure(figure, case(), [result], scale)
        assert (found.ours, found.published, found.status, found.why) == (75.0, None, "control", "")
        assert (missing.ours, missing.status) == (None, "not run: needs time")


def test_models_from_several_seeds_give_one_number():
    results = [Result("score", score_table(marks), {"corpus": {"n": 4}}) for marks in ([1, 1, 1, 1], [1, 0, 0, 1])]
    line, _ = lines_of_figure(FIGURE, case(), results, "full")
    assert (line.ours, line.high, line.seeds) == (75.0, 100.0, 2)
    assert line.low <= 25.0


def test_a_number_that_is_known_to_be_wrong_is_corrected():
    wrong = FIGURE.number[0].model_copy(update={"value": 7.0, "corrected": "the labels were swapped"})
    figure = FIGURE.model_copy(update={"number": (wrong,)})
    result = Result("score", score_table([1, 1, 1, 0]), {"corpus": {"n": 4}})
    (line,) = lines_of_figure(figure, case(), [result], "full")
    assert (line.status, line.why) == ("corrected", "the labels were swapped")


@pytest.mark.parametrize(("published", "ours", "status"), [(0.19, 0.3, "reproduced"), (0.19, 0.01, "differs"),
                                                           (0.001, 0.04, "reproduced")])  # fmt: skip
def test_a_p_is_reproduced_where_both_say_the_same(published, ours, status):
    assert stated_of_p(published, Interval(ours, float("nan"), float("nan")), "full") == status


@pytest.mark.parametrize(
    ("published", "ours", "status"),
    [
        ("falls", (-0.2, -0.3, -0.1), "reproduced"),
        ("falls", (0.2, 0.1, 0.3), "differs"),
        ("rises", (0.2, -0.1, 0.3), "undecided"),
        ("rises", (0.2, math.nan, math.nan), "reproduced"),
        ("true above random", (-0.2, math.nan, math.nan), "differs"),
    ],
)
def test_a_word_is_reproduced_where_ours_lies_on_that_side_of_zero(published, ours, status):
    assert stated_of_word(published, Interval(*ours), "full") == status
    assert stated_of_word(published, Interval(*ours), "quick") == "other data"


def test_numbers_of_several_seeds_without_intervals_have_their_range():
    bare = [Interval(value, math.nan, math.nan) for value in (1.0, 2.0, 6.0)]
    assert over_seeds(bare) == Interval(3.0, 1.0, 6.0)
    assert over_seeds([Interval(1.0, 0.5, 1.5), Interval(3.0, 2.0, 4.0)]) == Interval(2.0, 0.5, 4.0)
    assert math.isnan(over_seeds(bare[:1]).low)


def test_a_number_without_an_interval_has_none():
    assert found_of(Interval(0.3, float("nan"), float("nan"))) == {"ours": 0.3, "low": None, "high": None}


def test_relative_falls_by_hand():
    half, none = table([[1, 1, 0, 0]] * 2, [[1, 0, 0, 0]] * 2), table([[1, 0]], [[1, 0]])
    falls = relative_falls({"pair": [half], "single": [none], "both": [half, none]})
    assert falls["pair"].mean == pytest.approx(50)
    assert falls["single"] == Interval(0.0, 0.0, 0.0)
    assert falls["both"].mean == pytest.approx(25)


@pytest.mark.parametrize(
    ("altered", "said"),
    [([1, 1, 1, 0], "most of the published fall is the second text"), ([0, 0, 0, 0], "attention itself is needed")],
)
def test_a_control_says_what_remains_of_a_published_fall(altered, said):
    fall = {**PUBLISHED, "uniform": (-60.0, -60.0)}
    paper, control = case(name="paper", published=fall, kind="pair"), case(name="control", system="bypass", kind="pair")
    study = Study(name="s", paper="0", title="t", about="a", case=(paper, control))
    result = Result("ablation", table([[1, 1, 1, 0] * 20], [altered * 20]), {})
    (sentence,) = controls(study, [(control, control, result)])
    assert "published, 75.0 % are lost" in sentence
    assert said in sentence
    assert controls(study, [(paper, paper, result)]) == []
    bare = Result("ablation", result.table[result.table["when"] == "infer"], {})
    assert controls(study, [(control, control, bare)]) == []
    assert finding(study, [(control, control, bare)]) == ""


def test_the_papers_text_against_its_own_tables():
    """Its §4.1 says 0.1, 49.5 and 51.2; the first does not follow from its Table 1."""
    shares = published_falls(read("vashishth2019"))
    assert shares["single"] == pytest.approx(0.61, abs=0.01)
    assert shares["pair"] == pytest.approx(49.7, abs=0.1)
    assert shares["generation"] == pytest.approx(51.3, abs=0.1)


def test_the_interval_of_a_score_narrows_with_more_examples():
    few, many = (based(table([[1, 0] * n], [[1, 0] * n])) for n in (5, 500))
    assert few.mean == many.mean == 50
    assert few.high - few.low > 5 * (many.high - many.low)
    assert isinstance(table([[1]], [[0]]), pd.DataFrame)
