"""Intervals: exact by enumeration where there are few examples, and against scipy."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import bootstrap

from whence.measures.bootstrap import paired_bootstrap


def test_with_one_seed_it_is_the_percentile_bootstrap_of_scipy():
    differences = np.random.default_rng(0).normal(0.3, 1.0, (1, 150))
    ours = paired_bootstrap(differences, draws=6000, seed=1)
    theirs = bootstrap(
        (differences[0],), np.mean, method="percentile", n_resamples=6000, rng=np.random.default_rng(2)
    ).confidence_interval
    standard_error = differences.std() / np.sqrt(150)
    assert ours.mean == pytest.approx(differences.mean())
    assert ours.low == pytest.approx(theirs.low, abs=0.12 * standard_error)
    assert ours.high == pytest.approx(theirs.high, abs=0.12 * standard_error)


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_few_examples_and_seeds_against_all_draws_there_are(level):
    differences = np.array([[0.0, 1.0, 5.0], [2.0, 2.5, 9.0]])
    every = [
        differences[np.ix_(seeds, examples)].mean()
        for seeds in product(range(2), repeat=2)
        for examples in product(range(3), repeat=3)
    ]
    ours = paired_bootstrap(differences, draws=8_000, level=level)
    for quantile, edge in (((1 - level) / 2, ours.low), ((1 + level) / 2, ours.high)):
        exact = np.quantile(every, [quantile - 0.02, quantile + 0.02])
        assert exact[0] - 1e-9 <= edge <= exact[1] + 1e-9
    assert ours.level == level


def test_seeds_that_differ_widen_the_interval():
    examples = np.random.default_rng(0).normal(size=200)
    alike = paired_bootstrap(np.stack([examples] * 4))
    apart = paired_bootstrap(np.stack([examples + shift for shift in (-1.0, -0.5, 0.5, 1.0)]))
    one = paired_bootstrap(examples[None])
    assert apart.mean == pytest.approx(alike.mean)
    assert apart.high - apart.low > 2 * (alike.high - alike.low)
    assert alike.high - alike.low == pytest.approx(one.high - one.low, rel=0.1)


def test_examples_are_the_same_for_all_seeds_drawn():
    """Two seeds that err in opposite ways on each example: drawn together they cancel, drawn apart they would not."""
    examples = np.random.default_rng(0).normal(size=50)
    both = np.stack([examples, -examples])
    means = [paired_bootstrap(both, draws=1, seed=seed).low for seed in range(200)]
    assert np.mean(np.abs(means) < 1e-12) == pytest.approx(0.5, abs=0.12)  # whenever each seed is drawn once


def test_the_interval_covers_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(3)
    intervals = [paired_bootstrap(rng.normal(1.0, 1.0, (1, 40)), draws=200, level=0.9) for _ in range(120)]
    covered = np.mean([interval.low <= 1.0 <= interval.high for interval in intervals])
    assert 0.8 <= covered <= 0.97


def test_same_seed_same_interval_other_seed_another():
    differences = np.random.default_rng(0).normal(size=(2, 30))
    assert paired_bootstrap(differences, seed=5) == paired_bootstrap(differences, seed=5)
    assert paired_bootstrap(differences, seed=5).low != paired_bootstrap(differences, seed=6).low


@pytest.mark.parametrize("wrong", [np.array([[0.0, np.nan]]), np.array([[np.inf]]), np.empty((0, 3)), np.empty((1, 0))])
def test_what_is_not_finite_or_not_there_is_refused(wrong):
    with pytest.raises(ValueError, match=r"expected finite differences \[seed example\]"):
        paired_bootstrap(wrong)
