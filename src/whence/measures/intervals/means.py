"""The mean of any values over examples and seeds."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from whence.measures.intervals.crossed import precision_of, refuse_unmeasured, skewed
from whence.measures.intervals.interval import Interval
from whence.measures.intervals.shares import share_interval


def mean_interval(
    values: Float[ndarray, "seed example"], level: float = 0.95, *, within: tuple[float, float] | None = None
) -> Interval:
    """The mean of values, or of paired differences, with an interval for other seeds and other examples.

    The t interval of crossed random effects (see `precision_of`), with Hall's (1992) transformation where values are
    skewed (see `skewed`).

    Where values lie `within` known ends, so does the interval; and if none differs from another it is not a point but
    Wilson's interval, in the scale of the ends (see `share_interval`).
    """
    refuse_unmeasured(values)
    mean, precision = float(values.mean()), precision_of(values, level)
    if within and not precision.variance > 0:
        low, high = within
        share, n = (mean - low) / (high - low), values.shape[1]
        found = share_interval(share * n, n, level)
        return Interval(mean, low + (high - low) * found.low, low + (high - low) * found.high, level)
    low, high = mean - skewed(precision, 1), mean - skewed(precision, -1)
    if within:
        low, high = (float(np.clip(end, *within)) for end in (low, high))
    return Interval(mean, low, high, level)
