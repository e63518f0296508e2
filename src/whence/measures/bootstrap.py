"""Intervals by resampling: how far a mean would move if other examples, and other seeds, had been drawn."""

from collections.abc import Callable
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


Measure = Callable[[Float[ndarray, "*corpora count"]], Float[ndarray, "*corpora"]]
AT_ONCE = 2**22  # how often each example is drawn, held at a time


def resampled(
    measure: Measure,
    base: Float[ndarray, "seed example count"],
    altered: Float[ndarray, "seed example count"],
    *,
    draws: int = 2000,
    seed: int = 0,
) -> Float[ndarray, "draw 2"]:
    """A corpus measure before and after, mean over the seeds, for resampled examples and seeds.

    For measures that are made of sums over examples without being their mean (BLEU; Koehn 2004). The draws are as in
    `paired_bootstrap`: examples the same for both sides and for all seeds, seeds with replacement.
    """
    if base.shape != altered.shape or base.size == 0:
        raise ValueError(f"expected counts [seed example count] of one shape, came {base.shape} and {altered.shape}")
    n_seed, n_example, _ = base.shape
    generator, chunk = np.random.default_rng(seed), max(1, AT_ONCE // n_example)
    found = []
    for done in range(0, draws, chunk):
        size = min(chunk, draws - done)
        often = generator.multinomial(n_example, np.full(n_example, 1 / n_example), size).astype(
            float
        )  # [draw example]
        seeds = generator.integers(n_seed, size=(size, n_seed))
        sums = (np.tensordot(often, counts, axes=(1, 1)) for counts in (base, altered))  # [draw seed count]
        drawn = (np.take_along_axis(of_all, seeds[..., None], axis=1) for of_all in sums)
        found.append(np.stack([measure(of_drawn).mean(-1) for of_drawn in drawn], -1))  # [draw 2]
    return np.concatenate(found)


def interval(mean: float, draws: Float[ndarray, " draw"], level: float = 0.95) -> Interval:
    """A mean with the middle `level` of its resampled values."""
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(mean), float(low), float(high), level)


def paired_bootstrap_of(
    measure: Measure,
    base: Float[ndarray, "seed example count"],
    altered: Float[ndarray, "seed example count"],
    *,
    draws: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Percentile bootstrap of a corpus measure lost: measure(Σ base) − measure(Σ altered), mean over the seeds."""
    found = resampled(measure, base, altered, draws=draws, seed=seed)
    mean = (measure(base.sum(1)) - measure(altered.sum(1))).mean()
    return interval(float(mean), found[:, 0] - found[:, 1], level)
