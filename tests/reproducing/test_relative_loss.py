"""The share of the score that is lost, by group: values by hand, and what a control says."""

import pytest

from support.ablations import ablation_table as table
from whence.reproducing.measured import Earlier, FigureResult
from whence.reproducing.relative_loss import (
    describe_controls,
    describe_losses,
    draw_scores,
    published_losses,
    relative_loss,
)
from whence.reproducing.study import Case, Control, FigureSpec, RelativeLoss, ScoreBars, Study
from whence.reproducing.study_files import read
from whence.results.result import Result

CHANGE = "uniform, train+infer"
CONTROL = Control(
    sentence="{data}: published {published:.1f}, {system} {ours:.1f} ({low:.1f} to {high:.1f}): {conclusion}",
    much="needed",
    little="cut off",
    unclear="open",
)
SUMMARY = RelativeLoss(
    kind="relative loss",
    name="Losses",
    about="",
    figures=("Table 1",),
    change=CHANGE,
    relative_to=("accuracy",),
    control=CONTROL,
)
PAPER = Case(name="paper", system="s", data="d", group="pairs")
BYPASS = Case(name="control", system="bypass", data="d", group="pairs")
TABLE = FigureSpec(
    name="Table 1",
    about="",
    experiment="ablation",
    cases=("paper", "control"),
    quantities=("accuracy", CHANGE),
    published={"paper": ((80.0, 0.5), -60.0)},
)
STUDY = Study(name="s", paper="0", title="t", about="a", case=(PAPER, BYPASS), figure=(TABLE,), summary=(SUMMARY,))


def test_relative_losses_by_hand():
    half, none = table([[1, 1, 0, 0]] * 2, [[1, 0, 0, 0]] * 2), table([[1, 0]], [[1, 0]])
    assert relative_loss(half, CHANGE).mean == pytest.approx(50)
    bound = 3.841459 / (2 + 3.841459)  # of two pairs of which none changed; half of the score is right
    single = relative_loss(none, CHANGE)
    assert (single.mean, single.high) == pytest.approx((0.0, 100 * bound / 0.5))


def test_an_earlier_run_counts_where_no_table_is_kept():
    """By hand: 40 of 80 points are half; its interval is that of the change, 30 to 50 of 80."""
    row = {"where": "Table 1", "system": "s", "data": "d", "n": 10, "seeds": 1}
    rows = [
        {**row, "quantity": "accuracy", "ours": 80.0, "low": 70.0, "high": 90.0},
        {**row, "quantity": CHANGE, "ours": -40.0, "low": -50.0, "high": -30.0},
    ]
    text = describe_losses(STUDY, SUMMARY, [], Earlier(rows=rows))
    assert "| pairs | 1 | 75.0 | 50.0 (37.5 to 62.5) | 50.0 |" in text
    assert not describe_losses(STUDY, SUMMARY, [], Earlier(rows=[{**one, "learned": False} for one in rows]))


@pytest.mark.parametrize(
    ("ablated", "conclusion"), [([1, 1, 1, 0], "cut off"), ([0, 0, 0, 0], "needed"), ([1, 1, 0, 0], "open")]
)
def test_a_control_says_what_remains_of_a_published_loss(ablated, conclusion):
    n = 2 if conclusion == "open" else 20  # with few examples the interval holds half of the published loss
    result = Result("ablation", table([[1, 1, 1, 0] * n], [ablated * n]), {})
    (sentence,) = describe_controls(STUDY, SUMMARY, [FigureResult(TABLE, BYPASS, result)])
    assert sentence.startswith("d: published 75.0, bypass ")
    assert sentence.endswith(conclusion)
    assert describe_controls(STUDY, SUMMARY, [FigureResult(TABLE, PAPER, result)]) == []
    bare = Result("ablation", result.table[result.table["when"] == "infer"], {})
    assert describe_controls(STUDY, SUMMARY, [FigureResult(TABLE, BYPASS, bare)]) == []
    assert describe_losses(STUDY, SUMMARY, [FigureResult(TABLE, BYPASS, bare)]) == ""
    silent = SUMMARY.model_copy(update={"control": None})
    assert describe_controls(STUDY, silent, [FigureResult(TABLE, BYPASS, result)]) == []


def test_controls_are_a_group_of_their_own():
    result = Result("ablation", table([[1, 1, 0, 0]], [[1, 0, 0, 0]]), {})
    text = describe_losses(STUDY, SUMMARY, [FigureResult(TABLE, PAPER, result), FigureResult(TABLE, BYPASS, result)])
    rows = [line.strip("| ").split(" | ")[:4] for line in text.splitlines() if line.startswith("| pairs")]
    assert [[*row[:3], row[3].split()[0]] for row in rows] == [
        ["pairs", "1", "75.0", "50.0"],
        ["pairs, controls", "1", "", "50.0"],
    ]


def test_bars_are_of_the_first_published_case_of_a_group(tmp_path):
    labels = ("with attention", "uniform attention")
    chart = ScoreBars(
        kind="bars", name="Figure 1", about="", figures=("Table 1",), change=CHANGE, labels=labels, x_label="accuracy"
    )
    result = Result("ablation", table([[1, 1, 0, 0]], [[1, 0, 0, 0]]), {})
    assert draw_scores(STUDY, chart, [FigureResult(TABLE, BYPASS, result)], tmp_path) == ""
    text = draw_scores(STUDY, chart, [FigureResult(TABLE, PAPER, result)], tmp_path)
    assert "![Figure 1](figures/s-figure-1.svg)" in text
    assert (tmp_path / "figures/s-figure-1.svg").exists()


def test_the_papers_text_compared_with_its_own_tables():
    """Its §4.1 says 0.1, 49.5 and 51.2; the first does not follow from its Table 1."""
    study = read("vashishth2019")
    (summary,) = (summary for summary in study.summary if isinstance(summary, RelativeLoss))
    shares = published_losses(study, summary)
    assert shares["single texts"] == pytest.approx(0.61, abs=0.01)
    assert shares["pairs of texts"] == pytest.approx(49.7, abs=0.1)
    assert shares["translation"] == pytest.approx(51.3, abs=0.1)
