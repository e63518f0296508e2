"""A learning curve: the line through points on it, where it is for more examples, and what the page says."""

import pandas as pd
import pytest

from support.ablations import ablation_table
from whence.reproducing.learning_curve import COLUMNS, curve_points, describe_curve, extrapolated, fitted_power
from whence.reproducing.measured import FigureResult
from whence.reproducing.study import Case, FigureSpec, LearningCurve, Study
from whence.results.result import Result

CASES = tuple(Case(name=name, system="s", data="d") for name in ("few", "more", "other"))
FIGURE = FigureSpec(name="Curve", about="", experiment="ablation", cases=("few", "more", "other"))
TABLE = FIGURE.model_copy(update={"name": "Table"})
CURVE = LearningCurve(
    kind="learning curve",
    name="By size",
    about="Sizes.",
    figures=("Curve", "Table"),
    quantity="accuracy",
    sizes={"more": 400, "few": 100},
    published=(1600, 90.0),
    x_label="texts",
    y_label="accuracy",
)
STUDY = Study(name="s", paper="0", title="t", about="a", case=CASES, figure=(FIGURE, TABLE), summary=(CURVE,))


def result(case, right):
    table = ablation_table([[1] * right + [0] * (10 - right)], [[0] * 10])
    return FigureResult(FIGURE, case, Result("ablation", table, {}))


def test_points_on_a_power_law_are_on_the_line():
    """By hand: error 200 · n^−0.5 is 20 at 100 examples, 10 at 400 and 5 at 1,600."""
    points = pd.DataFrame([(100, 80.0, 79.0, 81.0), (400, 90.0, 89.0, 91.0)], columns=COLUMNS)
    assert fitted_power(points) == pytest.approx((200, 0.5))
    assert extrapolated(points, 1600.0) == pytest.approx(95)


def test_the_page_says_what_was_measured_and_where_the_line_is(tmp_path):
    results = [result(CASES[1], 9), result(CASES[0], 8), result(CASES[2], 1)]
    assert curve_points(CURVE, results)["examples"].tolist() == [100, 400]
    text = describe_curve(STUDY, CURVE, results, tmp_path)
    assert "Ours: 80.0 with 100, 90.0 with 400." in text
    assert "has 95.0 at the paper's 1,600, where 90 was published" in text
    drawn = (tmp_path / "figures/s-by-size.svg").read_text(encoding="utf-8")
    assert all(word in drawn for word in ("1,600", "published", "accuracy"))


def test_a_model_in_two_figures_is_one_point():
    few, more = result(CASES[0], 8), result(CASES[1], 9)
    points = curve_points(CURVE, [few, few._replace(figure=TABLE), more._replace(figure=TABLE)])
    assert points["examples"].tolist() == [100, 400]


def test_one_size_is_no_curve(tmp_path):
    assert describe_curve(STUDY, CURVE, [result(CASES[0], 8)], tmp_path) == ""
    assert not list(tmp_path.iterdir())
