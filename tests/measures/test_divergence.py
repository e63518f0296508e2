"""How far distributions are apart: by hand, and against scipy."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy

from whence.measures.divergence import js_divergence, kl_divergence, total_variation


@st.composite
def two_distributions(draw):
    """Two of the same number of classes, with zeros."""
    n = draw(st.integers(1, 6))
    weights = st.one_of(st.just(0.0), st.floats(1e-3, 1.0))
    drawn = arrays(float, n, elements=weights).filter(lambda row: row.sum() > 0)
    p, q = draw(drawn), draw(drawn)
    return p / p.sum(), q / q.sum()


@pytest.mark.parametrize("kind", [np.array, torch.tensor])
def test_total_variation_by_hand(kind):
    p = kind([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.2, 0.3, 0.5]])
    q = kind([[0.25, 0.25, 0.5], [0.0, 0.5, 0.5], [0.2, 0.3, 0.5]])
    assert_allclose(np.asarray(total_variation(p, q)), [0.5, 1.0, 0.0])


@given(two_distributions())
def test_total_variation_is_the_largest_difference_of_an_event(pair):
    p, q = pair
    events = [[i for i in range(len(p)) if number >> i & 1] for number in range(2 ** len(p))]
    largest = max(abs(p[event].sum() - q[event].sum()) for event in events)
    assert total_variation(p, q) == pytest.approx(largest, abs=1e-12)
    assert total_variation(q, p) == total_variation(p, q)
    assert -1e-12 <= total_variation(p, q) <= 1 + 1e-12


@given(two_distributions())
def test_kl_and_js_are_those_of_scipy(pair):
    p, q = pair
    assert_allclose(kl_divergence(p, q), entropy(p, q), atol=1e-12)
    with np.errstate(invalid="ignore"):  # scipy takes the root of a zero that rounding put below zero
        expected = np.nan_to_num(jensenshannon(p, q)) ** 2
    assert_allclose(js_divergence(p, q), expected, atol=1e-9)
    assert js_divergence(p, q) <= math.log(2) + 1e-12


def test_divergences_keep_the_leading_axes():
    rows = np.array([[[1.0, 0.0], [0.5, 0.5]]])
    others = np.array([[[0.0, 1.0], [0.5, 0.5]]])
    assert_allclose(js_divergence(rows, others), [[math.log(2), 0.0]])
    assert_allclose(kl_divergence(rows, others), [[math.inf, 0.0]])
    assert_allclose(total_variation(rows, others), [[1.0, 0.0]])
