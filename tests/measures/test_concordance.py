import numpy as np
import pytest

from whence.measures.concordance import concordance, concordances, spread


def test_by_hand():
    true, predicted = np.array([0.0, 1.0, 2.0]), np.array([1.0, 1.0, 4.0])
    # means 1 and 2; covariance (−1·−1 + 0·−1 + 1·2) / 3 = 1; variances 2/3 and (1 + 1 + 4) / 3 = 2
    assert concordance(true, predicted) == pytest.approx(2 * 1 / (2 / 3 + 2 + 1))
    assert concordance(predicted, true) == pytest.approx(6 / 11)


def test_against_pearson():
    """Lin (1989), Eq. 2: ρ_c = ρ C_b, C_b = 2 / (v + 1/v + u²), v = σ₁/σ₂, u = (μ₁ − μ₂) / √(σ₁σ₂)."""
    generator = np.random.default_rng(0)
    for _ in range(20):
        true = generator.normal(size=30)
        predicted = 0.6 * true + generator.normal(0.3, 0.5, size=30)
        scale, shift = true.std() / predicted.std(), true.mean() - predicted.mean()
        bias = 2 / (scale + 1 / scale + shift**2 / (true.std() * predicted.std()))
        pearson = np.corrcoef(true, predicted)[0, 1]
        assert concordance(true, predicted) == pytest.approx(pearson * bias)
        assert abs(concordance(true, predicted)) <= abs(pearson)


def test_agreement_and_opposition():
    series = np.array([-1.0, 0.5, 0.5])
    assert concordance(series, series) == 1
    assert concordance(series, -series) == pytest.approx(-1), "the mean is zero"
    assert concordance(series, series + 1) < 1
    assert concordance(series, 2 * series) < 1


def test_constant_series():
    series, flat = np.array([0.1, 0.2, 0.4]), np.full(3, 0.3)
    assert concordance(series, flat) == 0
    assert concordance(flat, series) == 0
    assert concordance(flat, flat + 0.1) == 0
    assert concordance(flat, flat.copy()) == 1
    assert concordance(np.array([0.5]), np.array([0.25])) == 0, "one window"
    assert concordance(np.array([0.0]), np.array([1e-200])) == 1, "too near to be told apart"


@pytest.mark.parametrize("series", [np.array([0.0, np.nan, 1.0]), np.zeros(0)])
def test_what_is_no_series_is_refused(series):
    with pytest.raises(ValueError, match="two finite series of one length"):
        concordance(np.zeros(len(series)), series)


def test_each_series_counts_alike_whatever_its_length():
    true = [np.array([0.0, 1.0]), np.array([0.0, 1.0, 2.0])]
    predicted = [np.array([1.0, 0.0]), np.array([1.0, 1.0, 4.0])]
    assert concordances(true, predicted) == pytest.approx([-1, 6 / 11])


def test_both_spreads():
    found = spread(np.array([[0.0, 1.0], [0.5, 0.5], [0.4, 0.8]]))
    assert found.mean == pytest.approx(3.2 / 6)
    means = [0.5, 0.5, 0.6]
    assert found.over_runs == pytest.approx(np.sqrt(sum((m - 1.6 / 3) ** 2 for m in means) / 2))
    assert found.over_examples == pytest.approx((0.5 + 0 + 0.2) / 3)
    assert np.isnan(spread(np.array([[0.0, 1.0]])).over_runs)
    with pytest.raises(ValueError, match=r"\[run example\]"):
        spread(np.zeros((0, 3)))
