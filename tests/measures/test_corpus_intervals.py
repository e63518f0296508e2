"""Intervals of measures of a corpus: the jackknife against slow loops, means, and fresh corpora."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from statsmodels.stats.proportion import proportion_confint

from whence.measures.alignment_error import precision
from whence.measures.bleu import COUNTS, bleu
from whence.measures.chunk_f1 import chunk_f1
from whence.measures.intervals import (
    corpus_interval,
    corpus_loss_interval,
    jackknife_interval,
    linearised_ratios,
    mean_interval,
    ratio_intervals,
    relative_loss_interval,
)


def mean_of(counts: np.ndarray) -> np.ndarray:
    """A measure that is a mean: the jackknife must give the interval of the mean itself."""
    return np.asarray(counts[..., 0] / counts[..., 1])


def as_counts(values: np.ndarray) -> np.ndarray:
    return np.stack([values, np.ones_like(values)], -1)


def drawn_chunks(rng: np.random.Generator, seeds: int, examples: int, found: float) -> np.ndarray:
    """Right, predicted and true chunks of sentences of which some are harder than others."""
    true = rng.integers(1, 8, (1, examples)).repeat(seeds, axis=0)
    right = rng.binomial(true, np.clip(rng.normal(found, 0.1, (1, examples)), 0, 1))
    return np.stack([right, right + rng.binomial(true, 0.1), true], -1).astype(float)


def test_of_a_mean_the_interval_is_that_of_the_mean():
    rng = np.random.default_rng(0)
    base, ablated = rng.random((3, 40)), rng.random((3, 40))
    lost = corpus_loss_interval(mean_of, as_counts(base), as_counts(ablated))
    score = corpus_interval(mean_of, as_counts(base), whole=1.0)
    for found, values in ((lost, base - ablated), (score, base)):
        expected = mean_interval(values)
        assert (found.mean, found.low, found.high) == pytest.approx((expected.mean, expected.low, expected.high))


def test_pseudo_values_by_a_slow_loop():
    counts = drawn_chunks(np.random.default_rng(0), 2, 12, 0.7)
    pseudo = np.empty((2, 12))
    for seed in range(2):
        whole = float(chunk_f1(counts[seed].sum(0)))
        for example in range(12):
            rest = np.delete(counts[seed], example, axis=0).sum(0)
            pseudo[seed, example] = 12 * whole - 11 * float(chunk_f1(rest))
    found, expected = corpus_interval(chunk_f1, counts, 0.9), mean_interval(pseudo, 0.9)
    assert found.mean == pytest.approx(float(chunk_f1(counts.sum(1)).mean()))
    assert found.high - found.low == pytest.approx(expected.high - expected.low)


def test_f1_of_fresh_corpora_scatters_as_the_interval_says():
    rng = np.random.default_rng(0)
    corpora = [drawn_chunks(rng, 1, 150, 0.7) for _ in range(200)]
    widths = [one.high - one.low for one in (corpus_interval(chunk_f1, counts) for counts in corpora)]
    scatter = np.std([float(chunk_f1(counts.sum(1))[0]) for counts in corpora])
    assert np.mean(widths) / (2 * norm.ppf(0.975)) == pytest.approx(scatter, rel=0.15)


def test_if_nothing_changed_or_all_is_right_the_interval_is_not_a_point():
    right = np.full((2, 30, 3), 4.0)
    same, bound = corpus_loss_interval(chunk_f1, right, right), norm.ppf(0.975) ** 2
    assert (same.mean, same.low, same.high) == pytest.approx((0.0, *(s * 100 * bound / (30 + bound) for s in (-1, 1))))
    score = corpus_interval(chunk_f1, right)
    assert (score.low, score.high) == pytest.approx((100 * proportion_confint(30, 30, method="wilson")[0], 100.0))


def test_the_share_lost_by_hand_and_linearised():
    """Base 0.8 and ablated 0.6 lose a quarter; the values are 100 (A/B · b − a) / B."""
    base = np.array([[1.0, 1.0, 1.0, 1.0, 0.0]])
    ablated = np.array([[1.0, 1.0, 1.0, 0.0, 0.0]])
    found = relative_loss_interval(mean_of, as_counts(base), as_counts(ablated), whole=1.0)
    expected = mean_interval(100 * (0.75 * base - ablated) / 0.8)
    assert found.mean == pytest.approx(25.0)
    assert found.high - found.mean == pytest.approx(expected.high - expected.mean)
    nothing = relative_loss_interval(mean_of, as_counts(0 * base), as_counts(0 * base))
    assert nothing.mean == 0.0
    assert np.isnan([nothing.low, nothing.high]).all()


def test_an_estimate_that_needs_the_example_left_out_has_no_interval():
    one_has_links = np.array([[[1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 0.0, 0.0]]])
    found = corpus_interval(precision, one_has_links, whole=1.0)
    assert found.mean == 1.0
    assert np.isnan([found.low, found.high]).all()
    single = jackknife_interval(np.array([3.0]), np.array([[3.0]]))
    assert np.isnan([single.low, single.high]).all()


def test_linearised_ratios_have_the_ratio_as_mean_and_its_error():
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 5, (50, 2)).astype(float)
    sums = counts * rng.random((50, 2))
    values, expected = linearised_ratios(sums, counts), ratio_intervals(sums, counts)
    assert_allclose(values.mean(0), expected.mean)
    assert_allclose(values.std(0, ddof=1) / np.sqrt(50), expected.error)


def test_counts_of_nothing_are_refused():
    with pytest.raises(ValueError, match="expected counts"):
        corpus_interval(bleu, np.ones((1, 0, COUNTS)))
    with pytest.raises(ValueError, match="expected counts"):
        corpus_loss_interval(bleu, np.ones((1, 0, COUNTS)), np.ones((1, 0, COUNTS)))
