"""Random effects, compared with statsmodels, and by hand."""

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.meta_analysis import combine_effects

from whence.measures.intervals import Interval, random_effects

Z = stats.norm.ppf(0.975)


def estimates(means, errors):
    return [Interval(mean, mean - Z * error, mean + Z * error) for mean, error in zip(means, errors, strict=True)]


@pytest.mark.parametrize("seed", range(6))
def test_it_is_that_of_statsmodels(seed):
    """Which does not stop τ² at 0: below, its fixed effects are those of the model."""
    rng = np.random.default_rng(seed)
    means, errors = rng.normal(10, 0.1 if seed % 2 else 5, 6), rng.uniform(0.5, 2, 6)
    found = random_effects(estimates(means, errors))
    with np.errstate(invalid="ignore"):  # the root of a negative variance
        expected = combine_effects(means, errors**2, method_re="dl", use_t=True)
    heterogeneous = bool(expected.tau2 > 0)
    assert heterogeneous == (seed % 2 == 0)
    assert found.mean == pytest.approx(expected.mean_effect_re if heterogeneous else expected.mean_effect_fe)
    with np.errstate(invalid="ignore"):
        ends = expected.conf_int(use_t=True)[3 if heterogeneous else 2]
    assert (found.low, found.high) == pytest.approx(ends)


def test_by_hand_without_variance_between_studies():
    """Two equal errors and estimates near each other: τ² is 0 and the mean is in the middle; t of one degree."""
    found = random_effects(estimates([1.0, 2.0], [1.0, 1.0]))
    assert found.mean == pytest.approx(1.5)
    assert found.high - found.mean == pytest.approx(stats.t.ppf(0.975, 1) * math.sqrt(0.5 / 2))


def test_one_estimate_says_nothing_of_a_population():
    assert math.isnan(random_effects(estimates([1.0], [1.0])).low)


def test_an_estimate_without_error_is_no_division_by_zero():
    found = random_effects([Interval(1.0, 1.0, 1.0), Interval(3.0, 3.0, 3.0)])
    assert found.mean == pytest.approx(2.0)
