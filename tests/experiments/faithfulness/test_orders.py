"""Areas, bounds and flips compared with brute force over all orders, on outcomes that are made up."""

from itertools import permutations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from whence.analysis.faithfulness import BY_CHANCE
from whence.evaluation.faithfulness import orders
from whence.evaluation.faithfulness.measure import normalised
from whence.evaluation.faithfulness.orders import area, bounds, depths, descending, flip, prefixes
from whence.evaluation.faithfulness.outcomes import Outcome, Outcomes


class MadeUp(Outcomes):
    """Outcomes of one text of so many units, whose margins are random numbers."""

    def __init__(self, count: int, seed: int, additive: bool = False) -> None:
        rng = np.random.default_rng(seed)
        single = rng.normal(size=count)
        drops = rng.normal(size=2**count)
        if additive:
            drops = np.array([sum(single[u] for u in range(count) if mask >> u & 1) for mask in range(2**count)])
        drops[0] = 0.0
        self.margins = 1.0 - drops
        self.units: Any = SimpleNamespace(count=np.array([count]))
        self.asked: set[int] = set()

    def ask(self, wanted):
        self.asked |= {mask for _, mask in wanted}

    def __call__(self, row, mask):
        return Outcome(float(self.margins[mask]), 0.5, bool(self.margins[mask] < 0), 0.0)

    def drop(self, row, mask):
        assert mask in self.asked, "used without being asked for"
        return float(self.margins[0] - self.margins[mask])


def slow_area(made: MadeUp, order) -> float:
    """From the definition."""
    removed, drops = 0, []
    for unit in order[:-1]:
        removed += 2**unit
        drops.append(made.margins[0] - made.margins[removed])
    return float(np.mean(drops))


@pytest.mark.parametrize("count", [2, 3, 5, 7])
def test_bounds_are_those_of_all_orders(count):
    made = MadeUp(count, seed=count)
    best, worst = bounds(made, steps=count)[:, 0]
    areas = [slow_area(made, order) for order in permutations(range(count))]
    assert (best, worst) == pytest.approx((max(areas), min(areas)))


def test_a_beam_search_stays_within_the_bounds_and_finds_additive_orders(monkeypatch):
    for seed in range(5):
        made = MadeUp(6, seed)
        exact = bounds(made, steps=5)[:, 0]
        with monkeypatch.context() as patch:
            patch.setattr(orders, "EXACT", 2)
            found = bounds(made, steps=5)[:, 0]
        assert exact[1] - 1e-9 <= found[1] <= found[0] <= exact[0] + 1e-9
        simple = MadeUp(6, seed, additive=True)
        with monkeypatch.context() as patch:
            patch.setattr(orders, "EXACT", 2)
            assert bounds(simple, steps=5)[:, 0] == pytest.approx(bounds(MadeUp(6, seed, additive=True), 5)[:, 0])


def test_areas_and_flips_by_hand():
    made = MadeUp(4, seed=1)
    order = [2, 0, 3, 1]
    sets = prefixes(order, [1, 2, 3])
    assert sets == [0b0100, 0b0101, 0b1101]
    made.ask((0, mask) for mask in sets)
    assert area(made, 0, sets) == pytest.approx(slow_area(made, order))
    made.margins[:] = 1.0
    assert np.isnan(flip(made, 0, sets, [1, 2, 3], 4))
    made.margins[0b0101] = -1.0
    assert flip(made, 0, sets, [1, 2, 3], 4) == 0.5


def test_keeping_the_first_is_removing_the_last_first():
    order = [3, 1, 0, 2]
    kept = prefixes(order, [1, 2, 3])
    removed = prefixes(order[::-1], [3, 2, 1])
    assert [0b1111 - mask for mask in kept] == removed


def test_depths_are_all_or_evenly_spread():
    assert depths(5, 8) == [1, 2, 3, 4]
    assert depths(2, 8) == [1]
    assert depths(101, 5) == [1, 26, 50, 75, 100]
    assert descending(np.array([0.1, 0.5, 0.5, -1.0])) == [1, 2, 0, 3]


def test_ties_are_broken_at_random_so_that_reading_order_counts_nothing():
    level = np.array([0.25, 0.25 + 1e-8, 0.25 - 1e-8, 0.25])  # uniform attention, rounded
    assert descending(level, np.array([0.1, 0.4, 0.2, 0.9])) == [3, 1, 2, 0]
    assert descending(np.zeros(3), np.array([0.1, 0.4, 0.2])) == [1, 2, 0]
    assert descending(np.array([0.1, 0.2, 0.2]), np.array([0.9, 0.1, 0.5])) == [2, 1, 0]


@pytest.mark.parametrize(("count", "steps"), [(4, 8), (5, 2), (6, 3)])
def test_random_orders_have_one_half_in_every_text(count, steps):
    """Over all orders the mean of (area − worst + best − reversed) / 2 (best − worst) is one half."""
    made = MadeUp(count, seed=count)
    at = depths(count, steps)
    made.ask((0, mask) for mask in range(2**count))
    pairs = [
        (area(made, 0, prefixes(order, at)), area(made, 0, prefixes(order[::-1], at)))
        for order in permutations(range(count))
    ]
    best, worst = max(forth for forth, _ in pairs), min(forth for forth, _ in pairs)
    found = [((forth - worst) + (best - back)) / (best - worst) / 2 for forth, back in pairs]
    assert np.mean(found) == pytest.approx(BY_CHANCE)


def test_scores_that_differ_by_less_than_a_hundredth_of_the_largest_are_not_told_apart():
    scores, drawn = np.array([0.001, 0.98, 0.004, 0.003, 0.011]), np.array([0.9, 0.1, 0.2, 0.8, 0.0])
    assert descending(scores, drawn) == [1, 4, 0, 3, 2]
    assert descending(100 * scores, drawn) == [1, 4, 0, 3, 2]


@pytest.mark.parametrize(("best", "measured"), [(0.04, False), (0.06, True), (1.5, True)])
def test_where_areas_hardly_differ_no_word_decides_and_orders_are_not_compared(best, measured):
    made = MadeUp(3, seed=0)  # whose margin is 1
    made.units.span, made.any_change = np.array([1]), lambda row: False  # type: ignore[method-assign]
    found = normalised(made, 0, {"area": 0.9 * best, "reversed": 0.1 * best}, best, 0.0)
    assert found["normalised"] == pytest.approx(0.9) if measured else np.isnan(found["normalised"])
