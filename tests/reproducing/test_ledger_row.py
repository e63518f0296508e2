"""The status of a number at its edges, and rows as text."""

import math

import pytest

from whence.measures.intervals import Interval
from whence.reproducing.ledger_row import Row, format_rows, from_table, interval_fields, not_run, status_of, to_table
from whence.reproducing.study import Number


def status(published, ours, scale="full", within=2.0, **options):
    return status_of(Number(quantity="q", value=published, **options), Interval(*ours), scale, within)


@pytest.mark.parametrize(
    ("published", "scale", "expected"),
    [
        (None, "full", "control"),
        (71.9, "full", "reproduced"),  # within two points
        (73.0, "full", "reproduced"),  # within the interval
        (73.1, "full", "differs"),
        (65.9, "full", "differs"),
        (71.9, "quick", "other data"),
    ],
)
def test_status(published, scale, expected):
    assert status(published, (70.0, 67.0, 73.0), scale) == expected


def test_a_number_may_have_a_tolerance_of_its_own():
    ours = (70.0, 69.9, 70.1)
    assert status(71.0, ours) == status(71.0, ours, within=0.1, sd=1.0) == "reproduced"
    number = Number(quantity="q", value=71.0, within=0.5)
    assert status_of(number, Interval(*ours), "full", 2.0) == "differs"


def test_a_wide_interval_confirms_nothing_and_a_published_sd_counts():
    assert status(90.0, (70.0, 50.0, 100.0)) == "undecided"
    assert status(71.0, (70.0, 50.0, 100.0)) == "reproduced"
    assert status(74.0, (70.0, 69.0, 71.0), sd=4.3) == "reproduced"
    assert status(74.0, (70.0, 69.0, 71.0), sd=0.5) == "differs"


@pytest.mark.parametrize(
    ("published", "ours", "expected"),
    [(0.19, 0.3, "reproduced"), (0.19, 0.01, "differs"), (0.001, 0.04, "reproduced")],
)
def test_a_p_value_is_reproduced_where_both_are_significant_or_neither(published, ours, expected):
    assert status(published, (ours, math.nan, math.nan), compare="significance") == expected
    assert status(published, (ours, math.nan, math.nan), "quick", compare="significance") == "other data"
    assert status(published, (ours, 0.01, 0.3), compare="significance") == "undecided", "seeds on both sides"


@pytest.mark.parametrize(
    ("published", "side", "ours", "expected"),
    [
        ("falls", "below 0", (-0.2, -0.3, -0.1), "reproduced"),
        ("falls", "below 0", (0.2, 0.1, 0.3), "differs"),
        ("rises", "above 0", (0.2, -0.1, 0.3), "undecided"),
        ("rises", "above 0", (0.2, math.nan, math.nan), "reproduced"),
        ("true above random", "above 0", (-0.2, math.nan, math.nan), "differs"),
    ],
)
def test_a_word_is_reproduced_where_ours_lies_on_that_side_of_zero(published, side, ours, expected):
    assert status(published, ours, side=side) == expected
    assert status(published, ours, "quick", side=side) == "other data"


def test_a_number_without_an_interval_has_none():
    assert interval_fields(Interval(0.3, math.nan, math.nan)) == {"ours": 0.3, "low": None, "high": None}


def test_rows_survive_a_table_and_are_aligned_as_text():
    theirs = {"where": "Table 1", "system": "s", "data": "d", "sd": None}
    run = Row(
        **theirs, quantity="a", published="falls", ours=-0.25, low=-0.5, high=-0.125, n=4, seeds=2, status="differs"
    )
    rows = [run, Row(**theirs, quantity="b", published=2.0, **not_run(""), digits=2)]
    assert from_table(to_table(rows)) == rows
    assert format_rows(rows).splitlines() == [
        "                  published  ours  interval      status               finding",
        "Table 1  s  d  a  falls      -0.2  -0.5 to -0.1  differs",
        "Table 1  s  d  b  2.00                           not run: needs time",
    ]
