"""An interval, and the interval of an average of independent ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan, sqrt


@dataclass(frozen=True)
class Interval:
    """An estimate, and the confidence interval that contains its true value in `level` of all samples.

    `low` and `high` are NaN where there is too little to say how far the estimate may be off.
    """

    mean: float
    low: float
    high: float
    level: float = 0.95

    def scaled(self, factor: float | int) -> "Interval":
        """The same in another unit; a factor below zero exchanges the ends."""
        low, high = sorted((factor * self.low, factor * self.high))
        return Interval(factor * self.mean, low, high, self.level)


NOT_MEASURED = Interval(nan, nan, nan)


def average(intervals: Sequence[Interval]) -> Interval:
    """The mean of estimates from independent samples: distances to the ends are added in squares (MOVER).

    low = m − √Σ (mₖ − lowₖ)² / K, high likewise (Zou & Donner 2008). The K estimates are all there are of
    interest, not a sample of more.
    """
    if not intervals:
        raise ValueError("expected at least one interval to average, came none")
    size, mean = len(intervals), sum(one.mean for one in intervals) / len(intervals)
    below = sqrt(sum((one.mean - one.low) ** 2 for one in intervals)) / size
    above = sqrt(sum((one.high - one.mean) ** 2 for one in intervals)) / size
    return Interval(mean, mean - below, mean + above, intervals[0].level)


def difference(one: Interval, other: Interval) -> Interval:
    """The difference of two estimates from independent samples: distances to the ends are added in squares (MOVER).

    low = d − √((m₁ − low₁)² + (high₂ − m₂)²), high likewise; of two shares with Wilson's intervals it is Newcombe's
    (1998) method 10.
    """
    apart = one.mean - other.mean
    low = apart - sqrt((one.mean - one.low) ** 2 + (other.high - other.mean) ** 2)
    return Interval(apart, low, apart + sqrt((one.high - one.mean) ** 2 + (other.mean - other.low) ** 2), one.level)
