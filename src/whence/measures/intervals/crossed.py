"""How precise a mean over examples and seeds is: two-way random effects, Student's t, skewness."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray


@dataclass(frozen=True)
class Precision:
    """How precise a mean is: the variance of the mean, half the width of its t interval, and the mean's skewness."""

    variance: float
    half: float
    skewness: float

    @property
    def quantile(self) -> float:
        """Half the width in standard errors."""
        return self.half / float(np.sqrt(self.variance))


def refuse_unmeasured(values: Float[ndarray, "seed example"]) -> None:
    """Refuse NaN and nothing."""
    if values.size == 0 or not np.isfinite(values).all():
        raise ValueError(f"expected finite values [seed example], came {values.shape} with NaN or nothing")


def precision_of(values: Float[ndarray, "seed example"], level: float) -> Precision:
    """How precise the grand mean is.

    Seeds and examples are crossed random effects, x = μ + seed + example + residual. The variance of the grand mean is

        v = v_seed + v_example − v_residual

    with v_seed = s²(seed means)/I, v_example = s²(example means)/J and v_residual = s²(residuals)/(IJ) (Scheffé 1959),
    at least the larger of the first two; t has Satterthwaite's (1946) degrees of freedom, v² / Σ vₖ²/dfₖ. With one
    seed it is the t interval over examples, and says nothing about other seeds; with one example that over seeds;
    with one of both NaN.

    Differs from Satterthwaite: never narrower than Banerjee's (1960) √(t²_{I−1} · seed part + t²_{J−1} · example part),
    with parts v_seed² / (v_seed + v_residual) and v_example − v_residual. With two seeds v_seed is often small by
    chance, the degrees are then overestimated, and the interval would cover as little as 88 % (`docs/statistics.md`).
    """
    seeds, examples = values.shape
    if 1 in (seeds, examples):
        return _one_way(values.reshape(-1), level)
    by_seed, by_example, mean = values.mean(1), values.mean(0), values.mean()
    residuals = values - by_seed[:, None] - by_example + mean
    degrees = seeds - 1, examples - 1, (seeds - 1) * (examples - 1)
    v_seed, v_example = by_seed.var(ddof=1) / seeds, by_example.var(ddof=1) / examples
    v_residual = (residuals**2).sum() / degrees[2] / values.size
    v = max(v_seed + v_example - v_residual, v_seed, v_example)
    if not v > 0:
        return Precision(0.0, 0.0, 0.0)
    of_each = ((part**2 / freedom) for part, freedom in zip((v_seed, v_example, v_residual), degrees, strict=True))
    satterthwaite = t_quantile(v**2 / sum(of_each), level) * np.sqrt(v)
    t_seed, t_example = t_quantile(degrees[0], level), t_quantile(degrees[1], level)
    parts = v_seed**2 / (v_seed + v_residual or 1.0), max(v_example - v_residual, 0.0)
    banerjee = np.sqrt(t_seed**2 * parts[0] + t_example**2 * parts[1])
    of_mean = skewness(by_example) / np.sqrt(examples) * (v_example / v) ** 1.5
    return Precision(float(v), float(max(satterthwaite, banerjee)), float(of_mean))


def _one_way(values: Float[ndarray, " value"], level: float) -> Precision:
    if len(values) == 1:
        return Precision(np.nan, np.nan, np.nan)
    variance = float(values.var(ddof=1) / len(values))
    half = t_quantile(len(values) - 1, level) * np.sqrt(variance)
    return Precision(variance, float(half), float(skewness(values) / np.sqrt(len(values))))


def skewness(values: Float[ndarray, " value"]) -> float:
    """The third moment about the mean over the cube of the standard deviation; zero where nothing varies."""
    centred = values - values.mean()
    spread = np.sqrt((centred**2).mean())
    return float(((centred / spread) ** 3).mean()) if spread > 0 else 0.0


def skewed(precision: Precision, side: int) -> float:
    """Half the width on one side (1: below the mean, −1: above), by Hall's (1992) cubic transformation.

    With κ the skewness of the mean, a quantile t becomes 3/κ · (∛(1 + κt − κ²/6) − 1), which is t where κ = 0. The
    t interval is too short on the side of the long tail: of 50 exponential values, its upper end is below the mean in
    6 % of the samples and not in 2.5 %.
    """
    kappa, error = precision.skewness, float(np.sqrt(precision.variance))
    if not abs(kappa) > 1e-6:
        return side * precision.half
    t = side * precision.half / error
    return error * 3 / kappa * (float(np.cbrt(1 + kappa * t - kappa**2 / 6)) - 1)


def t_quantile(degrees: float | int, level: float) -> float:
    """The quantile of Student's t that leaves half of 1 − level above it."""
    from scipy.special import stdtrit  # slow to import

    return float(stdtrit(degrees, 0.5 + level / 2))


def z_quantile(level: float) -> float:
    """The quantile of the normal distribution that leaves half of 1 − level above it."""
    from scipy.special import ndtri  # slow to import

    return float(ndtri(0.5 + level / 2))
