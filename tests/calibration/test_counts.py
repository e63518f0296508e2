"""The tables of a calibration, on records whose counts are known by hand."""

import pytest

from whence.calibration.counts import confusion, invariances, judged, power_by_n, summary, verdict_table
from whence.calibration.page import page


def record(name, known, verdicts, kind="attends", n=50, variant="", error=""):
    found = {
        number: {"answer": answer, "sentence": f"It is {answer}.", "effects": []} for number, answer in verdicts.items()
    }
    return {"name": name, "family": "attends", "kind": kind, "seed": 0, "n": n, "variant": variant,
            "known": known, "verdicts": found, "error": error}  # fmt: skip


RECORDS = [
    record("a", {"1": "yes", "3": "yes"}, {"1": "yes", "3": "no"}),
    record("b", {"1": "yes", "3": "no"}, {"1": "undecided", "3": "no"}, n=100, kind="carrier-next"),
    record("c", {"1": "undecided", "3": "not yes"}, {"1": "no", "3": "undecided"}, kind="majority"),
    record("d", {"1": "no"}, {"1": "no"}, n=100, kind="past-mean"),
    record("e", {"1": "no"}, {}, error="RuntimeError: it broke"),
    record("f", {"1": "yes", "3": "yes"}, {"1": "yes", "3": "yes"}, variant="texts reordered"),
]


@pytest.mark.parametrize(
    ("known", "verdict", "expected"),
    [("yes", "yes", "right"), ("yes", "no", "wrong"), ("no", "undecided", "open"), ("undecided", "undecided", "right"),
     ("undecided", "yes", "wrong"), ("not yes", "no", "right"), ("not yes", "yes", "wrong"),
     ("not no", "undecided", "open"), ("yes", "not asked", "open"),
     ("no", "yes, in part", "wrong"), ("not no", "yes, in part", "right")],
)  # fmt: skip
def test_verdicts_are_judged(known, verdict, expected):
    assert judged(known, verdict) == expected


def test_rates_are_counted_by_hand():
    table = verdict_table(RECORDS)
    one, three = summary(table[table["variant"] == ""]).to_dict("records")
    assert (one["cases"], one["decided"]) == (4, 3)  # a, b, c, d; b is undecided, and e could not be run
    assert one["right"] == pytest.approx(2 / 3)
    assert one["false alarms"] == pytest.approx(1 / 4)  # c
    assert one["power"] == pytest.approx(2 / 3)  # of a, b, d
    assert (three["right"], three["false alarms"], three["power"]) == pytest.approx((1 / 2, 1 / 3, 1.0))
    assert confusion(table, 1).loc["yes"].tolist() == [2, 0, 0, 1]
    assert confusion(table, 1).loc["undecided"].tolist() == [0, 0, 1, 0]
    assert power_by_n(table[table["variant"] == ""]).loc[1].tolist() == [1.0, 0.5]


def test_changes_that_should_not_matter_are_compared_with_the_same_case():
    rows = invariances(RECORDS).set_index("question")
    assert rows.loc[1, "same"]
    assert not rows.loc[3, "same"]
    assert (rows.loc[3, "before"], rows.loc[3, "after"]) == ("no", "yes")


def test_the_page_names_wrong_and_undecided_cases():
    text = page(verdict_table(RECORDS), RECORDS, "whence calibrate")
    assert "- `a`, question 3: known yes, verdict no. It is no." in text
    assert "- `carrier-next`, question 1, known yes, n = 100: It is undecided." in text
    assert "- `attends`, texts reordered, n = 50: question 3 no → yes" in text
    assert "4 cases of 4 kinds" in text
