"""Intervals by resampling: how far a mean would move if other examples, and other seeds, had been drawn."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray


@dataclass(frozen=True)
class Interval:
    """A mean, and where the middle `level` of its resampled values lies."""

    mean: float
    low: float
    high: float
    level: float = 0.95


def paired_bootstrap(
    differences: Float[ndarray, "seed example"], *, draws: int = 2000, level: float = 0.95, seed: int = 0
) -> Interval:
    """Percentile bootstrap of the mean of paired differences (altered − base, of the same example and seed).

    Each draw takes seeds with replacement, and examples with replacement, the same examples for all the seeds drawn
    (both are samples, and the seeds share the examples). With one seed this is the plain paired bootstrap over examples
    (Efron & Tibshirani 1993, §13.3), and says nothing about other seeds.
    """
    if differences.size == 0 or not np.isfinite(differences).all():
        raise ValueError(f"expected finite differences [seed example], came {differences.shape} with NaN or nothing")
    n_seed, n_example = differences.shape
    generator = np.random.default_rng(seed)
    means = np.empty(draws)
    for draw in range(draws):  # one at a time: draws × examples would not fit for a large corpus
        of_seeds = differences[generator.integers(n_seed, size=n_seed)].mean(0)
        means[draw] = of_seeds[generator.integers(n_example, size=n_example)].mean()
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(differences.mean()), float(low), float(high), level)
