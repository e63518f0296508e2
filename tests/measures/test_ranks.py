"""Kendall's τ-b against scipy, with and without ties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from whence.measures.ranks import kendall_tau


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12))
def test_against_scipy(pairs):
    first, second = np.array(pairs, dtype=float).T
    found = kendall_tau(first, second)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(kendalltau(first, second).statistic)


def test_by_hand():
    one = np.array([1.0, 2.0, 3.0])
    assert kendall_tau(one, one) == 1
    assert kendall_tau(one, -one) == -1
    assert kendall_tau(one, np.array([1.0, 3.0, 2.0])) == pytest.approx(1 / 3)  # two pairs agree, one does not
    assert np.isnan(kendall_tau(one[:1], one[:1]))
    assert np.isnan(kendall_tau(one[:0], one[:0]))
