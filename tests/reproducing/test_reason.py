"""The two parts of a difference, by hand."""

import pytest

from whence.reproducing.ledger_row import Row
from whence.reproducing.reason import reason, with_reasons
from whence.reproducing.study import FigureSpec

FIGURE = FigureSpec(name="Table 2", about="", experiment="ablation", cases=("c",), levels=("accuracy",))


def row(quantity, published, ours, status="differs"):
    return Row("Table 2", "s", "d", quantity, published, None, ours, None, None, 10, 1, status)


START = row("accuracy", 96.1, 100.0, "reproduced")


@pytest.mark.parametrize(
    ("theirs", "ours", "words"),
    [
        (-63.4, -70.8, "starts 3.9 higher, ends 3.5 lower"),  # 7.4 = 3.9 + 3.5; ends 29.2 for 32.7
        (-44.4, -48.3, "starts 3.9 higher, ends 0.0 higher"),
        (-63.4, -50.0, "starts 3.9 higher, ends 17.3 higher"),
    ],
)
def test_start_and_end_make_up_the_difference(theirs, ours, words):
    assert reason(row("uniform, infer", theirs, ours), START) == words


def test_only_what_differs_has_a_reason():
    assert reason(row("uniform, infer", -63.4, -63.0, "reproduced"), START) == ""
    assert reason(row("uniform, infer", "falls", -63.0), START) == ""
    assert reason(row("uniform, infer", -63.4, None, "not run: needs time"), START) == ""


def test_a_figure_without_a_level_has_no_reasons():
    rows = [START, row("uniform, infer", -63.4, -70.8)]
    assert with_reasons(rows, FIGURE)[0] == START
    assert with_reasons(rows, FIGURE)[1].reason.startswith("starts 3.9 higher")
    assert with_reasons(rows, FIGURE.model_copy(update={"levels": ()})) == rows
