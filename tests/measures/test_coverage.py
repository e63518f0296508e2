"""Intervals contain the truth about as often as they say; the page on statistics has every kind."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.coverage import Kind, coverage, kinds
from benchmarks.statistics_page import page

from whence.measures.intervals import Interval

KINDS = list(kinds())
PAGE = Path(__file__).parents[2] / "docs" / "statistics.md"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.interval}, {kind.data}")
def test_intervals_of_95_per_cent_cover_as_much(kind: Kind):
    for seeds in {1, 5} & set(kind.seeds):
        assert 0.92 <= coverage(kind, seeds, 100, draws=400) <= 0.98


def test_an_interval_half_as_wide_would_be_noticed():
    kind = KINDS[0]

    def halved(drawn: np.ndarray) -> Interval:
        found = kind.measured(drawn)
        return Interval(found.mean, (found.mean + found.low) / 2, (found.mean + found.high) / 2)

    assert coverage(replace(kind, measured=halved), 1, 100, draws=200) < 0.8


def test_the_page_has_every_kind_for_every_number_of_seeds():
    text = PAGE.read_text(encoding="utf-8")
    for kind in KINDS:
        for seeds in kind.seeds:
            assert f"| {kind.interval} | {kind.data} | {seeds} |" in text


def test_the_page_counts_cells_from_fifty_examples_on():
    made = page([("mean", "normal", 1, [0.5, 0.95]), ("mean", "skewed", 1, [0.5, 0.92])], (20, 50), 1000)
    assert (
        "1 of 2 cells are within 93–97 %, 1 below and 0 above, 0 of these with two seeds; all are within 92.0–95.0 %"
        in (made.replace("\n", " "))
    )
    assert "| mean | skewed | 1 | 50.0 | 92.0 |" in made
