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


NOT_MEASURED = Interval(float("nan"), float("nan"), float("nan"))
Measure = Callable[[Float[ndarray, "*corpora count"]], Float[ndarray, "*corpora"]]
Counts = Float[ndarray, "seed example count"]  # summed over a corpus, the input of a measure
AT_ONCE = 2**22  # how often each example is drawn, held at a time: draws × examples may be too many


def paired_bootstrap(
    differences: Float[ndarray, "seed example"], *, draws: int = 2000, level: float = 0.95, seed: int = 0
) -> Interval:
    """Percentile bootstrap of the mean of paired differences (ablated − base, of the same example and seed)."""
    if differences.size == 0 or not np.isfinite(differences).all():
        raise ValueError(f"expected finite differences [seed example], came {differences.shape} with NaN or nothing")
    counts = np.stack([differences, np.ones_like(differences)], -1)
    drawn = resampled(lambda sums: sums[..., 0] / sums[..., 1], counts, draws=draws, seed=seed)
    return interval(float(differences.mean()), drawn[:, 0], level)


def paired_bootstrap_of(
    measure: Measure, base: Counts, ablated: Counts, *, draws: int = 2000, level: float = 0.95, seed: int = 0
) -> Interval:
    """Percentile bootstrap of a corpus measure lost: measure(Σ base) − measure(Σ ablated), mean over the seeds.

    For measures of sums over examples that are not a mean over examples (BLEU; Koehn 2004).
    """
    before, after = resampled(measure, base, ablated, draws=draws, seed=seed).T
    mean = (measure(base.sum(1)) - measure(ablated.sum(1))).mean()
    return interval(float(mean), before - after, level)


def resampled(measure: Measure, *sides: Counts, draws: int = 2000, seed: int = 0) -> Float[ndarray, "draw side"]:
    """A corpus measure of each side, mean over the seeds, for resampled examples and seeds.

    Each draw takes seeds with replacement, and examples with replacement, the same examples for all sides and for all
    the seeds drawn (both are samples, and the seeds share the examples). With one seed this is the plain paired
    bootstrap over examples (Efron & Tibshirani 1993, §13.3), and says nothing about other seeds.
    """
    shapes = {side.shape for side in sides}
    if len(shapes) != 1 or sides[0].size == 0:
        raise ValueError(f"expected counts [seed example count] of one shape, came {sorted(shapes)}")
    n_seed, n_example, _ = sides[0].shape
    generator, chunk = np.random.default_rng(seed), max(1, AT_ONCE // n_example)
    found = []
    for done in range(0, draws, chunk):
        size = min(chunk, draws - done)
        often = resampling_counts(generator, n_example, size)
        seeds = generator.integers(n_seed, size=(size, n_seed, 1))
        sums = (np.tensordot(often, side, axes=(1, 1)) for side in sides)  # [draw seed count]
        found.append([measure(np.take_along_axis(of_all, seeds, axis=1)).mean(-1) for of_all in sums])  # [side draw]
    return np.concatenate(found, axis=1).T


def resampling_counts(rng: np.random.Generator, n: int, draws: int) -> Float[ndarray, "draw example"]:
    """How often each of n examples is drawn, when n of them are drawn with replacement, so many times."""
    return rng.multinomial(n, np.full(n, 1 / n), draws).astype(float)


def interval(mean: float, draws: Float[ndarray, " draw"], level: float = 0.95) -> Interval:
    """A mean with the middle `level` of its resampled values."""
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(mean), float(low), float(high), level)
