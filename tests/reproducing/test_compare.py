"""Ours compared with theirs: values by hand, one row for each published number."""

import math

import pytest

from support.ablations import ablation_table as table
from whence.experiments import score as score_experiment
from whence.experiments.ablation import score
from whence.measures.intervals import Interval
from whence.reproducing.compare import mean_over_seeds, rows_of
from whence.reproducing.ledger_row import format_rows
from whence.reproducing.study import Case, FigureSpec, Number
from whence.results.result import Result


def case(**options):
    return Case(**{"name": "c", "system": "s", "data": "d", "needs": "time", **options})


ABLATIONS = FigureSpec(
    name="Table 1",
    about="",
    experiment="ablation",
    cases=("c", "other"),
    within=2.0,
    quantities=(
        "accuracy",
        "uniform, train+infer",
        "uniform, infer",
        "random, train+infer",
        "random, infer",
        "permuted",
    ),
    published={"c": ((80.0, 0.5), -10.0, -20.0, -1.0, -2.0, -3.0)},
)


def ablated(table, figure=ABLATIONS, **options):
    results = [] if table is None else [Result("ablation", table, {"corpus": {"n": table["example"].nunique()}})]
    return rows_of(figure, case(**options), results, "full")


def test_the_score_and_the_changes_by_hand():
    both = table([[1, 1, 1, 0], [1, 1, 0, 0]], [[1, 0, 0, 0], [1, 1, 0, 0]])
    rows = {row.quantity: row for row in ablated(both)}
    assert rows["accuracy"].ours == pytest.approx(100 * (0.75 + 0.5) / 2)
    assert rows["uniform, train+infer"].ours == pytest.approx(-100 * (0.5 + 0.0) / 2)
    assert rows["uniform, train+infer"].low < -25 < rows["uniform, train+infer"].high
    assert (rows["accuracy"].n, rows["accuracy"].seeds, rows["accuracy"].published) == (4, 2, 80.0)


def test_bleu_is_of_the_corpus_not_the_mean_of_sentences():
    counts = ("4 3 2 1 5 4 3 2 5 5", "4 0 0 0 5 4 3 2 5 5")
    (bleu, *_) = ablated(table([[0.5, 0.7]], [[0.1, 0.2]], counts))
    assert bleu.quantity == "BLEU"
    assert bleu.ours == pytest.approx(100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25)


def test_what_was_not_run_says_what_it_needs():
    rows = ablated(None)
    assert len(rows) == 6
    assert {row.status for row in rows} == {"not run: needs time"}
    assert all(row.ours is None for row in rows)
    assert "not run: needs time" in format_rows(rows)


def test_what_was_published_and_not_run_says_so():
    """The model was retrained with uniform attention only, not with random."""
    rows = {row.quantity: row for row in ablated(table([[1, 0]], [[0, 0]]))}
    assert set(rows) == set(ABLATIONS.quantities)
    assert rows["random, train+infer"].status == "not run: needs time"
    assert rows["uniform, infer"].ours == -50


def test_a_case_without_published_numbers_is_a_control_with_all_that_was_measured():
    rows = ablated(table([[1, 0]], [[0, 0]]), name="other", why="a bypass")
    assert [row.quantity for row in rows] == ["accuracy", "uniform, train+infer", "uniform, infer"]
    assert {(row.status, row.published, row.why) for row in rows} == {("control", None, "a bypass")}
    assert ablated(None, name="other") == []


def test_a_difference_is_explained_by_the_figure_or_by_the_case():
    differing, explained = table([[1, 0] * 200], [[1, 0] * 200]), ABLATIONS.model_copy(update={"why": "other trees"})
    assert {row.why for row in ablated(differing, why="fewer pairs") if row.status == "differs"} == {"fewer pairs"}
    rows = ablated(differing, explained, why="fewer pairs")
    assert {row.why for row in rows if row.status == "differs"} == {"other trees"}


FIGURE = FigureSpec(
    name="section 6",
    about="",
    experiment="score",
    cases=("c",),
    within=1.0,
    number=(Number(quantity="accuracy", value=74.5, sd=0.2), Number(quantity="nothing", value=0.2)),
)


def score_result(*runs):
    """Right and wrong predictions by seed."""
    table = score_experiment.COLUMNS.table(
        [
            {"example": number, "label": "a", "seed": seed, "measure": "accuracy", "score": right, "counts": None}
            for seed, of_seed in enumerate(runs)
            for number, right in enumerate(of_seed)
        ]
    )
    return Result("score", table, {"corpus": {"n": 4}})


def test_the_numbers_of_an_experiment_compared_with_the_published_ones():
    found, missing = rows_of(FIGURE, case(mode="paper"), [score_result([1, 1, 1, 0], [1, 1, 0, 1])], "full")
    assert (found.where, found.system, found.ours, found.status) == ("section 6", "s, paper", 75.0, "reproduced")
    assert (found.n, found.seeds) == (4, 2)
    assert missing.status == "not run: needs time"
    assert rows_of(FIGURE, case(), [], "full")[0].status == "not run: needs time"


def test_a_number_that_nobody_published_is_a_control():
    figure = FIGURE.model_copy(update={"number": (Number(quantity="accuracy"), Number(quantity="nothing"))})
    for scale in ("quick", "full"):
        found, missing = rows_of(figure, case(), [score_result([1, 1, 1, 0])], scale)
        assert (found.ours, found.published, found.status, found.why) == (75.0, None, "control", "")
        assert (missing.ours, missing.status) == (None, "not run: needs time")


def test_models_from_several_seeds_give_one_number():
    row, _ = rows_of(FIGURE, case(), [score_result([1, 1, 1, 1]), score_result([1, 0, 0, 1])], "full")
    assert (row.ours, row.high, row.seeds) == (75.0, 100.0, 2)
    assert row.low <= 25.0


def test_a_number_that_is_known_to_be_wrong_is_corrected():
    wrong = FIGURE.number[0].model_copy(update={"value": 7.0, "corrected": "the labels were swapped"})
    figure = FIGURE.model_copy(update={"number": (wrong,)})
    (row,) = rows_of(figure, case(), [score_result([1, 1, 1, 0])], "full")
    assert (row.status, row.why) == ("corrected", "the labels were swapped")


def test_numbers_of_several_seeds_without_intervals_have_their_range():
    bare = [Interval(value, math.nan, math.nan) for value in (1.0, 2.0, 6.0)]
    assert mean_over_seeds(bare) == Interval(3.0, 1.0, 6.0)
    assert mean_over_seeds([Interval(1.0, 0.5, 1.5), Interval(3.0, 2.0, 4.0)]) == Interval(2.0, 0.5, 4.0)
    assert math.isnan(mean_over_seeds(bare[:1]).low)


def test_the_interval_of_a_score_narrows_with_more_examples():
    few, many = (score(table([[1, 0] * n], [[1, 0] * n])) for n in (5, 500))
    assert few.mean == many.mean == 50
    assert few.high - few.low > 5 * (many.high - many.low)
