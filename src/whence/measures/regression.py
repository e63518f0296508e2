"""Regression on orthogonal polynomials, as R's `lm(y ~ poly(x, 2))`; and the two-lines test of a U shape."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from whence.measures.least_squares import Coefficient, least_squares

ALPHA = 0.05
FEWEST = 8  # points: below that a curve with controls has no error left to speak of


@dataclass(frozen=True)
class Quadratic:
    """A fitted y = b0 + b1 P1(x) + b2 P2(x) + controls. `curve` has its height and standard error at each x."""

    b1: Coefficient
    b2: Coefficient
    r_squared: float
    n: int
    curve: Float[ndarray, " point"]
    curve_se: Float[ndarray, " point"]


@dataclass(frozen=True)
class TwoLines:
    """The slopes left and right of a break `at`; `shape` is U, inverted U, or neither."""

    at: float
    left: Coefficient
    right: Coefficient
    shape: str


def orthogonal(x: Float[ndarray, " point"], degree: int = 2) -> Float[ndarray, "point degree"]:
    """The orthogonal polynomials of R's `poly(x, degree)`, without its constant column.

    The QR decomposition of the powers of x − mean(x): columns of length one, orthogonal to each other and to a
    constant. Signs are R's, whose k-th column grows with x to the k-th power.
    """
    if len(np.unique(x)) <= degree:
        raise ValueError(f"expected more than {degree} distinct values, got {len(np.unique(x))}")
    centred = x - x.mean()
    q, r = np.linalg.qr(np.vander(centred / np.abs(centred).max(), degree + 1, increasing=True))
    return np.asarray((q * np.sign(np.diag(r)))[:, 1:])


def quadratic(
    y: Float[ndarray, " point"],
    x: Float[ndarray, " point"],
    controls: Float[ndarray, "point control"] | None = None,
) -> Quadratic:
    """Least squares of y on the two orthogonal polynomials of x. Wu et al. 2020, Eq. 12 and its footnote 4.

    b1 and b2 grow with the root of the number of points, since the columns are of length one. `controls` are further
    columns, taken linearly; the curve is then drawn at their means.
    """
    basis, controls = orthogonal(x), varying(controls)
    fitted = least_squares(y, design(basis, controls))
    across = design(basis, None if controls is None else np.broadcast_to(controls.mean(0), controls.shape))
    b1, b2 = fitted.coefficient(1), fitted.coefficient(2)
    return Quadratic(b1, b2, fitted.r_squared, len(y), *fitted.predicted(across))


def two_lines(
    y: Float[ndarray, " point"],
    x: Float[ndarray, " point"],
    controls: Float[ndarray, "point control"] | None = None,
) -> TwoLines | None:
    """Whether y falls and then rises with x: two lines, both significant, with opposite signs. Simonsohn 2018.

    A quadratic term is significant also where a curve flattens and never turns; two lines are not. The break is found
    by his Robin Hood procedure: among the x whose fitted height is within one standard error of the curve's lowest
    (or, if it bends down, highest) inner point, the median; then that quantile of them which gives points to the line
    with the smaller t. Standard errors are robust (HC3). None where either side has too few points for a line.

    Differs from the paper and its R code (twolines 0.52):

    - the fitted curve is the quadratic one with its standard errors, not a cubic spline of ten knots (`gam`);
    - lowest or highest is decided by the sign of b2, not by the slope of the quadratic curve at the smallest x;
    - the extreme is sought among all x but the smallest and largest, not in the middle 80 % of the points;
    - flat is within one standard error of the extreme's height, not of each point's own;
    - points at the break belong to the left line in one regression, which gives both slopes; the paper fits two, with
      these points left for the left slope and right for the right one;
    - a line needs three different x, else the first break is kept, or None returned; HC3 is never replaced by HC1.
    """
    curve = quadratic(y, x, controls)
    heights = curve.curve * (1 if curve.b2.value >= 0 else -1)
    inner = (x > x.min()) & (x < x.max())
    extreme = int(np.argmin(np.where(inner, heights, np.inf)))
    flat = x[inner & (heights <= heights[extreme] + curve.curve_se[extreme])]
    first = interrupted(y, x, float(np.median(flat)), controls)
    if first is None:
        return None
    strength = abs(first.left.t), abs(first.right.t)
    return interrupted(y, x, float(np.quantile(flat, strength[1] / sum(strength))), controls) or first


def interrupted(
    y: Float[ndarray, " point"],
    x: Float[ndarray, " point"],
    at: float,
    controls: Float[ndarray, "point control"] | None = None,
) -> TwoLines | None:
    """A line up to `at` and another after it, which need not meet; None where one would have fewer than three x."""
    high = x > at
    if min(len(np.unique(x[~high])), len(np.unique(x[high]))) < 3:
        return None
    sides = np.stack([np.where(high, 0, x - at), np.where(high, x - at, 0), high], axis=1)
    fitted = least_squares(y, design(sides, varying(controls)), robust=True)
    left, right = fitted.coefficient(1), fitted.coefficient(2)
    turns = max(left.p, right.p) < ALPHA and left.value * right.value < 0
    return TwoLines(at, left, right, ("U" if right.value > 0 else "inverted U") if turns else "neither")


def design(
    columns: Float[ndarray, "point column"], controls: Float[ndarray, "point control"] | None
) -> Float[ndarray, "point all"]:
    """A constant, the columns, and the controls."""
    if len(columns) < FEWEST:
        raise ValueError(f"expected at least {FEWEST} points, got {len(columns)}")
    return np.column_stack([np.ones(len(columns)), columns, *([] if controls is None else [controls])])


def varying(controls: Float[ndarray, "point control"] | None) -> Float[ndarray, "point left"] | None:
    """The controls that vary: a constant one is collinear with the intercept."""
    return None if controls is None else controls[:, np.ptp(controls, axis=0) > 0]


def curvature(
    y: Float[ndarray, "draw point"], x: Float[ndarray, " point"], there: Bool[ndarray, "draw point"]
) -> Float[ndarray, " draw"]:
    """b2 over the root of the number of points, for many draws of the points at once (y is read where `there`).

    Divided by the standard deviation of y this is the correlation of y with the second polynomial: how much of a U
    there is, whatever the number of points and the scale of y.
    """
    scaled = (x - x.mean()) / x.std()
    powers = np.stack([scaled**k for k in range(5)], axis=1)  # [point power]
    sums = there.astype(float) @ powers  # [draw power]
    n = sums[:, 0]
    gram = sums[:, np.add.outer(np.arange(3), np.arange(3))]  # [draw 3 3]
    with_y = np.where(there, y, 0.0) @ powers[:, :3]  # [draw 3]
    inverse = np.linalg.pinv(gram, hermitian=True)
    steepness = (inverse[:, 2] * with_y).sum(-1)
    return np.asarray(steepness / np.sqrt(inverse[:, 2, 2] * n))
