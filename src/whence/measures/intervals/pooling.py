"""The mean of effects over a population of studies, corpora or models, of which those at hand are a sample."""

from collections.abc import Sequence
from math import sqrt

import numpy as np
from scipy.special import ndtri, stdtrit

from whence.measures.intervals.interval import Interval


def random_effects(intervals: Sequence[Interval], level: float = 0.95, *, at_least_fixed: bool = False) -> Interval:
    """The mean of the population that independent estimates come from, by a random-effects model.

    Weights 1 / (vₖ + τ²) with the τ² of DerSimonian & Laird (1986), the variance of Hartung & Knapp (2001), and
    Student's t with K − 1 degrees of freedom. vₖ is taken from each estimate's interval, as if that were symmetric. Of
    one estimate, the population has no interval. With `at_least_fixed` the variance is no smaller than that of a
    fixed-effect model (Röver et al. 2015): estimates that happen to be equal are not thereby exact.
    """
    means = np.array([one.mean for one in intervals])
    if len(means) < 2:
        return Interval(float(means.mean()), float("nan"), float("nan"), level)
    spread = np.array([(one.high - one.low) / (2 * ndtri((1 + one.level) / 2)) for one in intervals])
    variances = np.maximum(spread**2, 1e-12)  # an estimate may have no error at all
    weights = 1 / (variances + between(means, variances))
    mean = float(weights @ means / weights.sum())
    variance = float(weights @ (means - mean) ** 2) / ((len(means) - 1) * weights.sum())
    variance = max(variance, 1 / float(weights.sum())) if at_least_fixed else variance
    margin = float(stdtrit(len(means) - 1, (1 + level) / 2)) * sqrt(variance)
    return Interval(mean, mean - margin, mean + margin, level)


def between(means: np.ndarray, variances: np.ndarray) -> float:
    """τ², the variance between studies: DerSimonian & Laird's, from Cochran's Q."""
    weights = 1 / variances
    q = weights @ (means - weights @ means / weights.sum()) ** 2
    scale = weights.sum() - (weights @ weights) / weights.sum()
    return max(0.0, float((q - (len(means) - 1)) / scale))
