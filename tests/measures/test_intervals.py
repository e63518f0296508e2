"""Intervals of means, shares and changes of shares: by hand, against scipy and statsmodels, and by brute force."""

from math import nan, sqrt

import numpy as np
import pytest
from scipy.stats import norm, t, ttest_1samp
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

from whence.measures.intervals import (
    Interval,
    average,
    crossed_share_interval,
    equivalent,
    exceeds,
    level_for,
    mean_interval,
    needed,
    paired_share_interval,
    ratio_intervals,
    share_interval,
)
from whence.measures.intervals.crossed import Precision, precision_of, skewed

CROSSED = np.array([[1.0, 2.0, 6.0, 3.0], [2.0, 5.0, 7.0, 2.0], [6.0, 5.0, 9.0, 8.0]])


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_symmetric_values_of_one_seed_have_the_t_interval_of_scipy(level):
    half = np.random.default_rng(0).normal(1.0, 2.0, 20)
    values = np.concatenate([half, -half]) + 0.3
    found, theirs = mean_interval(values[None], level), ttest_1samp(values, 0.0).confidence_interval(level)
    assert (found.mean, found.level) == pytest.approx((0.3, level))
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high))


def test_skewed_values_get_halls_transformation_worked_by_hand():
    """Of (0, 0, 0, 4): mean 1, variance 4, error 1, skewness 2/√3, so that κ = 1/√3; κ²/6 = 1/18."""
    found, quantile = mean_interval(np.array([[0.0, 0.0, 0.0, 4.0]])), t.ppf(0.975, 3)
    low, high = (1 - 3 * sqrt(3) * (np.cbrt(1 + s * quantile / sqrt(3) - 1 / 18) - 1) for s in (1, -1))
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.high - found.mean > 2 * (found.mean - found.low)


def test_halls_transformation_undoes_the_cubic_it_is_the_inverse_of():
    """With w = (θ̂ − θ)/error, Hall's statistic w + κ w²/3 + κ² w³/27 + κ/6 is at the quantile at either end."""
    precision = Precision(variance=0.25, half=1.1, skewness=0.4)
    for side in (1, -1):
        w = skewed(precision, side) / 0.5
        assert w + 0.4 * w**2 / 3 + 0.16 * w**3 / 27 + 0.4 / 6 == pytest.approx(side * precision.quantile)


def test_the_variance_of_a_crossed_mean_is_that_of_a_table_of_mean_squares_by_slow_loops():
    grand = CROSSED.sum() / 12
    of_seeds = [sum(CROSSED[i]) / 4 for i in range(3)]
    of_examples = [sum(CROSSED[:, j]) / 3 for j in range(4)]
    ms_seed = sum(4 * (m - grand) ** 2 for m in of_seeds) / 2
    ms_example = sum(3 * (m - grand) ** 2 for m in of_examples) / 3
    ms_residual = (
        sum((CROSSED[i, j] - of_seeds[i] - of_examples[j] + grand) ** 2 for i in range(3) for j in range(4)) / 6
    )
    expected = (ms_seed + ms_example - ms_residual) / 12
    found = precision_of(CROSSED, 0.95)
    assert found.variance == pytest.approx(expected)
    degrees = expected**2 * 144 / (ms_seed**2 / 2 + ms_example**2 / 3 + ms_residual**2 / 6)
    satterthwaite = t.ppf(0.975, degrees) * sqrt(expected)
    of_seed, of_example = ms_seed**2 / (ms_seed + ms_residual) / 12, (ms_example - ms_residual) / 12
    banerjee = sqrt(t.ppf(0.975, 2) ** 2 * of_seed + t.ppf(0.975, 3) ** 2 * of_example)
    assert found.half == pytest.approx(max(satterthwaite, banerjee))


def test_the_variance_is_unbiased_where_its_components_are_known():
    rng, seeds, examples = np.random.default_rng(0), 5, 30
    shape = (seeds, examples)
    drawn = [
        rng.normal(0, 0.5, (seeds, 1)) + rng.normal(0, 1, (1, examples)) + rng.normal(0, 1, shape) for _ in range(2000)
    ]
    expected = 0.25 / seeds + 1 / examples + 1 / (seeds * examples)
    assert np.var([one.mean() for one in drawn]) == pytest.approx(expected, rel=0.1)
    assert np.mean([precision_of(one, 0.95).variance for one in drawn]) == pytest.approx(expected, rel=0.05)


def test_the_variance_is_never_below_one_component_even_if_seeds_err_in_opposite_ways():
    examples = np.random.default_rng(0).normal(size=50)
    examples -= examples.mean()
    found = precision_of(np.stack([examples, -examples]) + np.array([[0.1], [-0.1]]), 0.95)
    assert found.variance == pytest.approx(np.var([0.1, -0.1], ddof=1) / 2)
    assert found.half > 0


def test_equal_seeds_add_nothing_and_different_ones_widen():
    examples = np.random.default_rng(0).normal(size=200)
    alike, one = mean_interval(np.stack([examples] * 4)), mean_interval(examples[None])
    apart = mean_interval(np.stack([examples + shift for shift in (-1.0, -0.5, 0.5, 1.0)]))
    assert (alike.low, alike.high) == pytest.approx((one.low, one.high))
    assert apart.mean == pytest.approx(alike.mean)
    assert apart.high - apart.low > 2 * (alike.high - alike.low)


def test_one_value_has_no_interval_and_one_example_has_that_over_seeds():
    single, seeds = mean_interval(np.array([[2.0]])), np.array([[1.0], [2.0], [3.0]])
    assert single.mean == 2.0
    assert np.isnan([single.low, single.high]).all()
    assert mean_interval(seeds).low == pytest.approx(2 - t.ppf(0.975, 2) / sqrt(3))


def test_bounded_values_that_do_not_vary_have_wilsons_interval_and_others_stay_within():
    found = mean_interval(np.full((1, 30), -1.0), within=(-1.0, 1.0))
    assert (found.low, found.high) == pytest.approx((-1.0, -1 + 2 * proportion_confint(0, 30, method="wilson")[1]))
    rare = np.zeros((1, 20))
    rare[0, 0] = 1.0
    assert mean_interval(rare, within=(0.0, 1.0)).low == 0.0 > mean_interval(rare).low


@pytest.mark.parametrize("wrong", [np.array([[0.0, np.nan]]), np.array([[np.inf]]), np.empty((0, 3)), np.empty((1, 0))])
@pytest.mark.parametrize("interval", [mean_interval, crossed_share_interval, paired_share_interval])
def test_what_is_not_finite_or_not_there_is_refused(interval, wrong):
    with pytest.raises(ValueError, match=r"expected finite values \[seed example\]"):
        interval(wrong)


@pytest.mark.parametrize(("successes", "n"), [(0, 20), (1, 20), (7, 50), (50, 50), (299, 300)])
@pytest.mark.parametrize("level", [0.95, 0.99])
def test_shares_have_wilsons_interval_as_statsmodels_computes_it(successes, n, level):
    values = np.arange(n)[None] < successes
    theirs = proportion_confint(successes, n, alpha=1 - level, method="wilson")
    for found in (share_interval(successes, n, level), crossed_share_interval(values.astype(float), level)):
        assert (found.mean, found.low, found.high) == pytest.approx((successes / n, *theirs), abs=1e-12)
        assert found.low < found.high


def test_shares_of_equal_seeds_are_almost_wilsons_and_of_independent_ones_narrower():
    rng = np.random.default_rng(0)
    one = (rng.random((1, 400)) < 0.3).astype(float)
    plain, alike = crossed_share_interval(one), crossed_share_interval(np.repeat(one, 5, axis=0))
    assert (alike.low, alike.high) == pytest.approx((plain.low, plain.high), abs=2e-3)
    apart = crossed_share_interval((rng.random((5, 400)) < 0.3).astype(float))
    assert apart.high - apart.low < 0.8 * (plain.high - plain.low)


def test_a_share_that_all_seeds_and_examples_have_is_wilsons_of_the_examples():
    found = crossed_share_interval(np.ones((5, 40)))
    assert (found.low, found.high) == pytest.approx((proportion_confint(40, 40, method="wilson")[0], 1.0))


@pytest.mark.parametrize(("successes", "n"), [(-1, 5), (6, 5), (0, 0)])
def test_impossible_shares_are_refused(successes, n):
    with pytest.raises(ValueError, match="from 0 to n"):
        share_interval(successes, n)
    with pytest.raises(ValueError, match="from 0 to 1"):
        crossed_share_interval(np.array([[1.5, 0.0]]))
    with pytest.raises(ValueError, match="−1 to 1"):
        paired_share_interval(np.array([[1.5, 0.0]]))


def changes(rises: int, falls: int, n: int) -> np.ndarray:
    return np.array([[1.0] * rises + [-1.0] * falls + [0.0] * (n - rises - falls)])


def brute_force_tango(rises: int, falls: int, n: int, level: float) -> tuple[float, float]:
    """The changes on a grid that the score test does not reject; the likeliest probability of −1 also by a grid."""
    accepted = []
    for change in np.linspace(-0.999, 0.999, 3997):
        falling = np.linspace(max(0.0, -change), (1 - change) / 2, 4001)[1:-1]
        logs = rises * np.log(falling + change) + falls * np.log(falling)
        logs += (n - rises - falls) * np.log(1 - 2 * falling - change)
        q = falling[logs.argmax()]
        score = (rises - falls - n * change) / np.sqrt(n * (2 * q + change - change**2))
        accepted += [change] if abs(score) <= norm.ppf(0.5 + level / 2) else []
    return min(accepted), max(accepted)


@pytest.mark.parametrize(("rises", "falls", "n"), [(12, 2, 14), (0, 0, 25), (9, 1, 30), (3, 10, 60), (1, 0, 50)])
def test_changes_have_tangos_interval_by_brute_force(rises, falls, n):
    found = paired_share_interval(changes(rises, falls, n))
    low, high = brute_force_tango(rises, falls, n, 0.95)
    assert found.mean == pytest.approx((rises - falls) / n)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1.5e-3)


def test_tangos_interval_touches_zero_where_mcnemars_test_is_just_significant():
    p = float(mcnemar([[20, 11], [3, 16]], exact=False, correction=False).pvalue)
    assert paired_share_interval(changes(11, 3, 50), 1 - p).low == pytest.approx(0.0, abs=1e-9)


def test_if_nothing_changed_the_interval_is_not_a_point():
    z = norm.ppf(0.975)
    for seeds in (1, 5):
        found = paired_share_interval(np.zeros((seeds, 25)))
        assert (found.mean, found.low, found.high) == pytest.approx((0.0, -(z**2) / (25 + z**2), z**2 / (25 + z**2)))


def test_all_that_changed_alike_ends_at_one():
    """With n rises the likeliest share of falls is (1 − Δ)/2, so n (1 − Δ) = z² (1 + Δ) at the lower end."""
    found, square = paired_share_interval(np.ones((2, 30))), norm.ppf(0.975) ** 2
    assert (found.low, found.high) == pytest.approx(((30 - square) / (30 + square), 1.0))


def test_fractions_have_about_their_t_interval_where_no_end_is_near():
    values = np.random.default_rng(0).normal(0.1, 0.1, (1, 300)).clip(-1, 1)
    found, plain = paired_share_interval(values), mean_interval(values)
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high), abs=2e-3)


def test_ratios_by_slow_loops_and_means_where_counts_are_one():
    rng = np.random.default_rng(0)
    sums, counts = rng.random((12, 3)), rng.integers(0, 4, (12, 3)).astype(float)
    counts[:, 2] = 1.0
    sums = sums * counts
    found = ratio_intervals(sums, counts)
    ratio, there = sums[:, 0].sum() / counts[:, 0].sum(), counts[:, 0] > 0
    squares = sum((s - ratio * c) ** 2 for s, c in zip(sums[there, 0], counts[there, 0], strict=True))
    error = sqrt(squares * there.sum() / (there.sum() - 1)) / counts[:, 0].sum()
    assert (found.mean[0], found.error[0]) == pytest.approx((ratio, error))
    plain = ttest_1samp(sums[:, 2], 0.0).confidence_interval()
    assert (found.low[2], found.high[2]) == pytest.approx((plain.low, plain.high))


def test_ratios_of_what_is_counted_once_or_never():
    found = ratio_intervals(np.array([[0.0, 2.0], [0.0, 0.0]]), np.array([[0.0, 4.0], [0.0, 0.0]]))
    assert np.isnan(found.mean[0])
    assert found.mean[1] == 0.5
    assert np.isnan([*found.low, *found.high]).all()


def test_an_average_of_independent_estimates_adds_their_errors_in_squares():
    found = average([Interval(1.0, 0.7, 1.6), Interval(3.0, 2.6, 3.8)])
    assert (found.mean, found.low, found.high) == pytest.approx((2.0, 2 - 0.25, 2 + 0.5))
    with pytest.raises(ValueError, match="at least one"):
        average([])


def test_decisions_need_the_whole_interval_on_one_side():
    between, above, below = Interval(2.0, 1.0, 3.0), Interval(4.0, 2.1, 6.0), Interval(0.0, -1.0, 1.9)
    assert [exceeds(one, 2.0) for one in (between, above, below)] == [False, True, False]
    assert [equivalent(one, 2.0) for one in (between, above, below)] == [False, False, True]
    unknown = Interval(2.0, nan, nan)
    assert not exceeds(unknown, 0.0)
    assert not equivalent(unknown, 9.0)


def test_the_level_of_several_intervals_is_bonferronis():
    assert [level_for(k) for k in (1, 5)] == pytest.approx([0.95, 0.99])
    with pytest.raises(ValueError, match="at least one"):
        level_for(0)


def test_how_many_examples_would_decide():
    """Half widths of 2 and a distance of 1 need four times as many; none suffices on the limit itself."""
    assert needed(Interval(3.0, 1.0, 4.0), 100, 2.0) == 400
    assert needed(Interval(1.0, 0.5, 4.0), 100, 2.0) == 900
    assert needed(Interval(5.0, 4.0, 6.0), 100, 2.0) == 100
    assert needed(Interval(2.0, 1.0, 3.0), 100, 2.0) is None
    assert needed(Interval(3.0, nan, nan), 100, 2.0) is None


def test_with_as_many_examples_as_needed_the_interval_is_off_the_limit():
    values = np.random.default_rng(1).normal(0.2, 1.0, 40)
    first = mean_interval(values[None])
    assert first.low < 0 < first.mean
    times = -(-(needed(first, 40, 0.0) or 0) // 40)
    assert mean_interval(np.tile(values, times)[None]).low > 0


def test_scaling_by_a_negative_factor_exchanges_the_ends():
    assert Interval(1.0, 0.0, 3.0, 0.9).scaled(-2) == Interval(-2.0, -6.0, 0.0, 0.9)
