from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau
from sklearn.metrics import average_precision_score

from whence.measures.ranking import average_precision, kendall_tau, r_precision


def slowly(scores: list[float], marked: list[bool]) -> float:
    """At each recall that is reached, its gain times the precision there."""
    area, before = 0.0, 0.0
    for least in sorted(set(scores), reverse=True):
        taken = [mark for score, mark in zip(scores, marked, strict=True) if score >= least]
        recall, precision = sum(taken) / sum(marked), sum(taken) / len(taken)
        area, before = area + (recall - before) * precision, recall
    return area


def test_by_hand():
    marked = np.array([True, False, True, False])
    assert average_precision(np.array([4.0, 3.0, 2.0, 1.0]), marked) == pytest.approx((1 + 2 / 3) / 2)
    assert average_precision(np.array([4.0, 1.0, 3.0, 2.0]), marked) == 1
    assert average_precision(np.ones(4), marked) == 0.5, "what cannot be told apart is taken together"
    assert np.isnan(average_precision(np.ones(2), np.zeros(2, bool)))


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=12))
def test_against_a_slow_loop(items):
    scores, marked = [float(score) for score, _ in items], [mark for _, mark in items]
    if any(marked):
        assert average_precision(np.array(scores), np.array(marked)) == pytest.approx(slowly(scores, marked))


def test_against_scikit_learn():
    rng = np.random.default_rng(0)
    for _ in range(20):
        scores, marked = rng.integers(8, size=30).astype(float), rng.random(30) < 0.3
        assert average_precision(scores, marked) == pytest.approx(average_precision_score(marked, scores))


def test_scores_that_are_no_numbers_are_refused():
    with pytest.raises(ValueError, match="finite scores and as many marks"):
        average_precision(np.array([np.nan, 1.0]), np.array([True, False]))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12))
def test_kendalls_tau_against_scipy(pairs):
    first, second = np.array(pairs, dtype=float).T
    found = kendall_tau(first, second)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(kendalltau(first, second).statistic)


def test_kendalls_tau_by_hand():
    one = np.array([1.0, 2.0, 3.0])
    assert kendall_tau(one, one) == 1
    assert kendall_tau(one, -one) == -1
    assert kendall_tau(one, np.array([1.0, 3.0, 2.0])) == pytest.approx(1 / 3)  # two pairs agree, one does not
    assert np.isnan(kendall_tau(one[:1], one[:1]))
    assert np.isnan(kendall_tau(one[:0], one[:0]))


def test_precision_at_the_number_of_marked_items_by_hand():
    marked = np.array([True, False, True, False])
    assert r_precision(np.array([4.0, 3.0, 2.0, 1.0]), marked) == 0.5
    assert r_precision(np.array([4.0, 1.0, 3.0, 2.0]), marked) == 1
    assert r_precision(np.ones(4), marked) == 0.5, "the order of what cannot be told apart is chance"
    assert np.isnan(r_precision(np.ones(2), np.zeros(2, bool)))


@given(st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=1, max_size=6))
def test_precision_at_the_number_of_marked_items_against_all_orders(items):
    wanted = sum(mark for _, mark in items)
    if wanted:
        orders = [order for order in permutations(items) if all(a[0] >= b[0] for a, b in pairwise(order))]
        mean = np.mean([np.mean([mark for _, mark in order[:wanted]]) for order in orders])
        scores, marked = (np.array(part) for part in zip(*items, strict=True))
        assert r_precision(scores.astype(float), marked) == pytest.approx(mean)
