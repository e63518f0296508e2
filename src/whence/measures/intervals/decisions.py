"""What an interval decides: beyond a limit, below it, or how many examples would be needed to tell."""

from math import ceil
from typing import Protocol, runtime_checkable

from whence.measures.intervals.interval import Interval


@runtime_checkable
class Bounded(Protocol):
    """Something with an interval: an `Interval`, or an effect."""

    @property
    def low(self) -> float: ...

    @property
    def high(self) -> float: ...


def exceeds(interval: Bounded, smallest: float | int) -> bool:
    """Whether the whole interval lies above the smallest effect of interest: what a *yes* needs."""
    return interval.low > smallest


def equivalent(interval: Bounded, smallest: float | int) -> bool:
    """Whether the whole interval lies below the smallest effect of interest: what a *no* needs.

    A one-sided equivalence test (Schuirmann 1987): that the effect is at least `smallest` is rejected, at a level of
    2.5 % for an interval of 95 %. An interval that merely contains zero decides nothing.
    """
    return interval.high < smallest


def level_for(together: int, alpha: float = 0.05) -> float:
    """The level of each of several intervals that shall all hold together with 1 − alpha (Bonferroni)."""
    if together < 1:
        raise ValueError(f"expected at least one interval, came {together}")
    return 1 - alpha / together


def needed(interval: Interval, n: int, limit: float | int) -> int | None:
    """About how many examples would move the interval off a limit that it contains, if the estimate stayed as it is.

    Its width shrinks with 1/√n, so n · (distance from the estimate to the end beyond the limit / distance to the
    limit)². As many as there are where the interval is off the limit already. None where the estimate lies on the
    limit, or nothing was measured: no number would do. With several seeds this is a lower bound: the part of the width
    that comes from seeds stays.
    """
    distance = interval.mean - limit
    reach = interval.mean - interval.low if distance > 0 else interval.high - interval.mean
    if not abs(distance) > 0 or not reach >= 0:
        return None
    return max(n, ceil(n * (reach / distance) ** 2))
