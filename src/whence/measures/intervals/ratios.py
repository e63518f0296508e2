"""Ratios of sums over examples, many at once: Σ values / Σ counts."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray


class Ratios(NamedTuple):
    """Ratios with their intervals and standard errors; NaN where nothing is counted."""

    mean: Float[ndarray, " cell"]
    low: Float[ndarray, " cell"]
    high: Float[ndarray, " cell"]
    error: Float[ndarray, " cell"]


def ratio_intervals(
    sums: Float[ndarray, "example cell"], counts: Float[ndarray, "example cell"], level: float = 0.95
) -> Ratios:
    """Σ sums / Σ counts of each cell, with t intervals over the examples that are counted there.

    Linearised: with R the ratio and m examples counted, the variance is m/(m − 1) · Σ (sᵢ − R cᵢ)² / (Σ cᵢ)² (Cochran
    1977), and t has m − 1 degrees of freedom. Where every count is one it is the t interval of the mean. Ends
    are NaN where a single example is counted.
    """
    from scipy.special import stdtrit  # slow to import

    whole, there = counts.sum(0), (counts > 0).sum(0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(whole > 0, sums.sum(0) / whole, np.nan)
        inflated = np.where(there > 1, there / (there - 1.0), np.nan)
        error = np.sqrt(inflated * ((sums - mean * counts) ** 2).sum(0)) / whole
        half = stdtrit(np.where(there > 1, there - 1.0, np.nan), 0.5 + level / 2) * error
    return Ratios(mean, mean - half, mean + half, error)


def linearised_ratios(
    sums: Float[ndarray, "example cell"], counts: Float[ndarray, "example cell"]
) -> Float[ndarray, "example cell"]:
    """Values of the examples whose mean is the ratio R of the sums, and which scatter as R does: R + n (s − R c) / Σ c.

    For means over several ratios, or differences, which `mean_interval` takes from there.
    """
    ratio = sums.sum(0) / counts.sum(0)
    return np.asarray(ratio + len(sums) * (sums - ratio * counts) / counts.sum(0))
