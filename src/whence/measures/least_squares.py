"""Ordinary least squares with the usual or with robust standard errors, as `OLS` of statsmodels gives them.

With X of n rows and k columns, residuals e and leverages h (the diagonal of X (X'X)⁻¹ X'):

    b = (X'X)⁻¹ X'y,   Cov(b) = (X'X)⁻¹ e'e / (n − k)                                      usual
                       Cov(b) = (X'X)⁻¹ X' diag(e² / (1 − h)²) X (X'X)⁻¹                   HC3

HC3 is that of MacKinnon & White 1985. Intervals and p are those of t with n − k degrees of freedom. X is inverted as
its pseudo-inverse, so that collinear columns share their effect.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Coefficient:
    """One coefficient: its standard error, t, two-sided p, and 95 % interval."""

    value: float
    se: float
    t: float
    p: float
    low: float
    high: float


@dataclass(frozen=True)
class Fit:
    """A fitted regression: coefficients, their covariance, the degrees of freedom left, and R²."""

    values: Float[ndarray, " column"]
    covariance: Float[ndarray, "column column"]
    free: int
    r_squared: float

    def coefficient(self, number: int) -> Coefficient:
        """The coefficient of one column."""
        from scipy.special import stdtr, stdtrit  # slow to import

        value, se = float(self.values[number]), float(np.sqrt(self.covariance[number, number]))
        t = value / se
        wide = float(stdtrit(self.free, 0.5 + CONFIDENCE / 2)) * se
        return Coefficient(value, se, t, float(2 * stdtr(self.free, -abs(t))), value - wide, value + wide)

    def predicted(self, columns: Float[ndarray, "row column"]) -> tuple[Float[ndarray, " row"], Float[ndarray, " row"]]:
        """The fitted mean at other rows of X, and its standard error."""
        return columns @ self.values, np.sqrt(((columns @ self.covariance) * columns).sum(1))


def least_squares(y: Float[ndarray, " row"], columns: Float[ndarray, "row column"], robust: bool = False) -> Fit:
    """Fit y on the columns, the first of which is constant; `robust` takes HC3 for the covariance."""
    inverse = np.linalg.pinv(columns)  # [column row]
    values = inverse @ y
    left, free = y - columns @ values, len(y) - int(np.linalg.matrix_rank(columns))
    if robust:
        leverage = (columns * inverse.T).sum(1)
        weighted = inverse * (left / (1 - leverage))
        covariance = weighted @ weighted.T
    else:
        covariance = inverse @ inverse.T * (left @ left / free)
    total = y - y.mean()
    return Fit(values, covariance, free, float(1 - left @ left / (total @ total)))
