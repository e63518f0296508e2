"""Regression: R's poly worked by hand, least squares by numpy and scipy, and curves that turn or do not."""

import numpy as np
import pytest
from scipy import stats

from whence.measures.regression import curvature, interrupted, orthogonal, quadratic, two_lines

# R: poly(1:10, 2). By hand: x − 5.5 over √82.5; (x − 5.5)² − 8.25 over √528
LINEAR = [-0.49543369, -0.38533732, -0.27524094, -0.16514456, -0.05504819]
LINEAR += [-value for value in reversed(LINEAR)]
SQUARE = [0.52223297, 0.17407766, -0.08703883, -0.26111648, -0.34815531]
SQUARE += list(reversed(SQUARE))


def points(n=200, seed=0):
    random = np.random.default_rng(seed)
    return random.uniform(1, 9, n), random.normal(size=n)


def test_the_polynomials_are_those_of_r():
    found = orthogonal(np.arange(1.0, 11.0))
    np.testing.assert_allclose(found[:, 0], LINEAR, atol=1e-8)
    np.testing.assert_allclose(found[:, 1], SQUARE, atol=1e-8)


def test_the_polynomials_are_orthonormal_and_grow_with_x():
    """Beside Gram and Schmidt, one power after another."""
    x, _ = points(50)
    found = orthogonal(x, 3)
    np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(found.sum(0), 0, atol=1e-10)
    before = [np.ones_like(x) / np.sqrt(len(x))]
    for power in (1, 2, 3):
        rest = x**power
        for _ in range(2):  # twice is enough
            for one in before:
                rest = rest - (one @ rest) * one
        before.append(rest / np.linalg.norm(rest))
        np.testing.assert_allclose(found[:, power - 1], before[-1], atol=1e-8)


def test_too_few_values_for_a_polynomial():
    with pytest.raises(ValueError, match="more than 2 distinct values, got 2"):
        orthogonal(np.array([1.0, 2.0, 1.0, 2.0]))
    with pytest.raises(ValueError, match="at least 8 points, got 5"):
        quadratic(np.arange(5.0), np.arange(5.0))


@pytest.mark.parametrize("controlled", [False, True])
def test_the_fit_is_that_of_least_squares_worked_out(controlled):
    x, noise = points()
    y = 0.3 * x + 0.1 * (x - 5) ** 2 + noise
    controls = np.random.default_rng(5).normal(size=(len(x), 2)) if controlled else None
    fit = quadratic(y, x, controls)
    columns = np.column_stack([np.ones_like(x), orthogonal(x), *([] if controls is None else [controls])])
    solved, (left,), *_ = np.linalg.lstsq(columns, y, rcond=None)
    free = len(x) - columns.shape[1]
    errors = np.sqrt(np.diag(np.linalg.inv(columns.T @ columns)) * left / free)
    for number, found in ((1, fit.b1), (2, fit.b2)):
        assert (found.value, found.se) == pytest.approx((solved[number], errors[number]))
        assert found.t == pytest.approx(solved[number] / errors[number])
        assert found.p == pytest.approx(2 * stats.t.sf(abs(found.t), free), rel=1e-6)
        reach = stats.t.ppf(0.975, free) * errors[number]
        assert (found.low, found.high) == pytest.approx((solved[number] - reach, solved[number] + reach))
    assert fit.r_squared == pytest.approx(1 - left / ((y - y.mean()) ** 2).sum())
    assert fit.n == 200


def test_the_curve_is_what_a_plain_parabola_gives():
    x, noise = points()
    y = 0.1 * x**2 + noise
    np.testing.assert_allclose(quadratic(y, x).curve, np.polyval(np.polyfit(x, y, 2), x), atol=1e-9)


def test_a_control_that_never_varies_changes_nothing():
    x, y = points()
    plain, controlled = quadratic(y, x), quadratic(y, x, np.full((len(x), 1), 3.0))
    assert controlled.b2.p == pytest.approx(plain.b2.p)


def test_two_lines_are_two_regressions():
    """Without controls each slope is that of its own side alone (scipy)."""
    x, noise = points()
    y = abs(x - 5) + noise
    found = interrupted(y, x, 5.0)
    assert found.left.value == pytest.approx(stats.linregress(x[x <= 5], y[x <= 5]).slope)
    assert found.right.value == pytest.approx(stats.linregress(x[x > 5], y[x > 5]).slope)
    assert found.shape == "U"


@pytest.mark.parametrize(
    ("shape", "of"),
    [
        ("U", lambda x: abs(x - 5)),
        ("U", lambda x: 2 * np.maximum(0, x - 4) + 0.8 * np.maximum(0, 4 - x)),
        ("inverted U", lambda x: -abs(x - 5)),
        ("neither", lambda x: x),
        ("neither", lambda x: -3 * np.log(x)),  # curved, and never turns
        ("neither", lambda x: 0 * x),
    ],
)
def test_a_curve_that_turns_is_told_from_one_that_does_not(shape, of):
    x, noise = points(400, seed=3)
    found = two_lines(of(x) + 0.5 * noise, x)
    assert (found.shape if found else "neither") == shape


def test_a_quadratic_term_finds_a_u_where_there_is_none_and_two_lines_do_not():
    """Simonsohn's point: a logarithm is curved, significantly so."""
    x, noise = points(400, seed=3)
    y = -3 * np.log(x) + 0.5 * noise
    assert quadratic(y, x).b2.p < 1e-6
    assert quadratic(y, x).b2.value > 0
    assert two_lines(y, x).shape == "neither"


def test_the_break_lies_near_the_turn():
    x, noise = points(600, seed=1)
    assert two_lines(abs(x - 4) + 0.3 * noise, x).at == pytest.approx(4, abs=0.8)


def test_a_side_with_too_few_points_has_no_line():
    x = np.arange(10.0)
    assert interrupted(x**2, x, 8.0) is None
    assert interrupted(x**2, x, 6.0) is not None


def test_curvature_is_b2_over_root_n_for_each_draw():
    x, noise = points(60)
    y = np.stack([0.1 * (x - 5) ** 2 + noise * size for size in (0.1, 1, 2)])
    there = np.random.default_rng(2).random(y.shape) < 0.8
    for found, row, kept in zip(curvature(y, x, there), y, there, strict=True):
        assert found == pytest.approx(quadratic(row[kept], x[kept]).b2.value / np.sqrt(kept.sum()))


def test_curvature_over_the_spread_is_a_correlation():
    x, noise = points(60)
    y = 0.1 * (x - 5) ** 2 + noise
    found = curvature(y[None], x, np.ones((1, 60), bool))[0] / y.std()
    assert found == pytest.approx(np.corrcoef(y, orthogonal(x)[:, 1])[0, 1])
