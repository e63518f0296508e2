"""Shares and changes of shares: score intervals, which are never a point at nothing or at all."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from whence.measures.intervals.crossed import precision_of, refuse_unmeasured, z_quantile
from whence.measures.intervals.interval import Interval


def share_interval(successes: float | int, n: float | int, level: float = 0.95) -> Interval:
    """The share of successes among n examples, with Wilson's (1927) score interval.

    The p for which |p̂ − p| ≤ z √(p (1 − p) / n): (p̂ + z²/2n ± z √(p̂ (1 − p̂)/n + z²/4n²)) / (1 + z²/n). Of no
    success in n it is [0, z²/(n + z²)].
    """
    if not 0 <= successes <= n or n <= 0:
        raise ValueError(f"expected a number of successes from 0 to n and n above 0, came {successes} of {n}")
    share = successes / n
    return Interval(share, *_wilson(share, n, z_quantile(level)), level)


def _wilson(share: float, n: float | int, z: float) -> tuple[float, float]:
    middle, shrunk = share + z * z / (2 * n), 1 + z * z / n
    half = z * np.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    low = 0.0 if share == 0 else float((middle - half) / shrunk)
    return low, 1.0 if share == 1 else float((middle + half) / shrunk)


def crossed_share_interval(values: Float[ndarray, "seed example"], level: float = 0.95) -> Interval:
    """The mean of zeros and ones, or of shares in between, over seeds and examples.

    Of zeros and ones from one seed it is Wilson's interval. Else it is Wilson's with the number of independent
    examples that would make a share so precise, n = p (1 − p) / v, where v is the variance of the crossed mean, and
    with its t quantile (see `precision_of`; effective sample sizes: Kish 1965). If nothing varies, n is that of the
    examples.
    """
    refuse_unmeasured(values)
    if values.min() < 0 or values.max() > 1:
        raise ValueError(f"expected shares from 0 to 1, came {values.min():g} to {values.max():g}")
    share, n = float(np.clip(values.mean(), 0.0, 1.0)), values.shape[1]
    precision = precision_of(values, level)
    if (len(values) == 1 and _whole(values)) or not precision.variance > 0:
        return share_interval(share * n, n, level)
    effective = share * (1 - share) / precision.variance
    return Interval(share, *_wilson(share, effective, precision.quantile), level)


def paired_share_interval(differences: Float[ndarray, "seed example"], level: float = 0.95) -> Interval:
    """The mean change of correct predictions (+1, 0 or −1 for each example), with Tango's (1998) score interval.

    With b changes to +1 and c to −1 of n pairs, the Δ for which |b − c − nΔ| ≤ z √(n (2 q + Δ (1 − Δ))), where q is
    the probability of −1 that is most likely given Δ; at Δ = 0 it is McNemar's (1947) test. If nothing changed it is
    ±z²/(n + z²). Fractions count as such: b = Σ max(x, 0), c = Σ max(−x, 0).

    Of several seeds, or fractions, it is Tango's with the number of independent pairs that would make the mean so
    precise, as in `crossed_share_interval`.
    """
    refuse_unmeasured(differences)
    if np.abs(differences).max() > 1:
        raise ValueError(f"expected differences of shares, −1 to 1, came {np.abs(differences).max():g}")
    mean, n = float(differences.mean()), differences.shape[1]
    each = differences.mean(0)
    rises, falls = float(np.maximum(each, 0).sum()), float(np.maximum(-each, 0).sum())
    precision = precision_of(differences, level)
    if (len(differences) == 1 and _whole(differences)) or not precision.variance > 0:
        return Interval(mean, *_tango(rises, falls, n, z_quantile(level)), level)
    variance = (rises + falls - (rises - falls) ** 2 / n) / n**2
    as_many = variance / precision.variance if variance > 0 else 1.0
    return Interval(mean, *_tango(as_many * rises, as_many * falls, as_many * n, precision.quantile), level)


def _tango(rises: float, falls: float, n: float | int, z: float) -> tuple[float, float]:
    """Where the squared score statistic is z², below the estimate and above it."""
    estimate = (rises - falls) / n

    def beyond(change: float) -> float:
        least = _least_falls(rises, falls, n, change)
        return (rises - falls - n * change) ** 2 - z * z * n * (2 * least + change * (1 - change))

    return _root(beyond, estimate, -1.0), _root(beyond, estimate, 1.0)


def _least_falls(rises: float, falls: float, n: float | int, change: float) -> float:
    """The probability of −1 that is most likely if the change is so large (Tango 1998)."""
    linear = (2 * n - rises + falls) * change - rises - falls
    constant = -falls * change * (1 - change)
    return float((np.sqrt(max(linear**2 - 8 * n * constant, 0.0)) - linear) / (4 * n))


def _root(function: Callable[[float], float], inside: float, end: float) -> float:
    """Where the function, negative next to the inside, becomes positive; the end if it does not."""
    from scipy.optimize import brentq  # slow to import

    nearby = inside + 1e-9 * (end - inside)
    return end if function(end) <= 0 else float(brentq(function, nearby, end, xtol=1e-12))


def _whole(values: Float[ndarray, "seed example"]) -> bool:
    return bool((values == np.round(values)).all())
