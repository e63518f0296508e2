"""Measures of sums over a corpus (F1, BLEU, error rates), which are no mean over examples: the jackknife."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from whence.measures.intervals.crossed import precision_of
from whence.measures.intervals.interval import Interval
from whence.measures.intervals.means import mean_interval
from whence.measures.intervals.shares import crossed_share_interval, paired_share_interval

Measure = Callable[[Float[ndarray, "*corpora count"]], Float[ndarray, "*corpora"]]
Counts = Float[ndarray, "seed example count"]  # summed over a corpus, the input of a measure


def corpus_interval(measure: Measure, counts: Counts, level: float = 0.95, *, whole: float = 100.0) -> Interval:
    """A measure of a corpus, mean over the seeds, with an interval for other seeds and other examples.

    The crossed interval of the jackknife's pseudo-values (see `jackknife_interval`), within 0 and the `whole`, the
    highest value there is. If no example differs from another it is Wilson's.
    """
    _refuse_nothing(counts)
    by_seed = measure(counts.sum(1))
    found = jackknife_interval(by_seed, _left_out(measure, counts), level)
    if found.low == found.high:
        shares = np.broadcast_to(by_seed[:, None] / whole, counts.shape[:2])
        found = crossed_share_interval(shares.clip(0, 1), level).scaled(whole)
    low, high = np.clip([found.low, found.high], 0.0, whole).tolist()
    return Interval(float(by_seed.mean()), low, high, level)


def corpus_loss_interval(
    measure: Measure, base: Counts, ablated: Counts, level: float = 0.95, *, whole: float = 100.0
) -> Interval:
    """What is lost of a measure of a corpus, measure(Σ base) − measure(Σ ablated), mean over the seeds.

    Examples are paired. If nothing changed, or all examples changed alike, it is Tango's interval in points of the
    `whole` (see `paired_share_interval`).
    """
    _refuse_nothing(base, ablated)
    lost = measure(base.sum(1)) - measure(ablated.sum(1))
    found = jackknife_interval(lost, _left_out(measure, base) - _left_out(measure, ablated), level)
    if found.low == found.high:
        alike = np.broadcast_to(lost[:, None] / whole, base.shape[:2])
        found = paired_share_interval(alike.clip(-1, 1), level).scaled(whole)
    return Interval(float(lost.mean()), found.low, found.high, level)


def relative_loss_interval(
    measure: Measure, base: Counts, ablated: Counts, level: float = 0.95, *, whole: float = 100.0
) -> Interval:
    """The share that is lost of a measure of a corpus, in per cent: 100 (B − A) / B of its means over the seeds.

    The ratio is linearised: the crossed interval of 100 (A/B · bᵢ − aᵢ) / B, with pseudo-values aᵢ and bᵢ (Cochran
    1977). Where B is zero nothing can be lost, and the interval is NaN.
    """
    _refuse_nothing(base, ablated)
    before, after = measure(base.sum(1)), measure(ablated.sum(1))
    if not before.mean() > 0:
        return Interval(0.0, np.nan, np.nan, level)
    left = after.mean() / before.mean()
    made = jackknife_interval(
        left * before - after, left * _left_out(measure, base) - _left_out(measure, ablated), level
    )
    scale, lost = 100 / float(before.mean()), 100 * (1 - float(left))
    if made.low == made.high:
        return corpus_loss_interval(measure, base, ablated, level, whole=whole).scaled(scale)
    return Interval(lost, lost + scale * (made.low - made.mean), lost + scale * (made.high - made.mean), level)


def jackknife_interval(
    estimates: Float[ndarray, " seed"],
    left_out: Float[ndarray, "seed example"],
    level: float = 0.95,
    *,
    symmetric: bool = False,
) -> Interval:
    """The mean of each seed's estimate, given those that leave out one example each.

    With `symmetric` it is not corrected for skewness: that of few pseudo-values of a rank correlation says nothing
    about the correlation's.

    The pseudo-values n θ − (n − 1) θ₍₋ᵢ₎ are treated as values of the examples (Tukey 1958; Efron & Tibshirani 1993,
    ch. 11), so `mean_interval` serves; it is centred on the estimate itself. NaN where there is one example, or an
    estimate needs the one left out.
    """
    n, mean = left_out.shape[1], float(estimates.mean())
    pseudo = n * estimates[:, None] - (n - 1) * left_out
    if n == 1 or not np.isfinite(pseudo).all():
        return Interval(mean, np.nan, np.nan, level)
    pseudo = np.where(np.ptp(pseudo) <= 1e-9 * max(1.0, np.abs(pseudo).max()), pseudo.flat[0], pseudo)  # rounding
    if symmetric:
        half = precision_of(pseudo, level).half
        return Interval(mean, mean - half, mean + half, level)
    found = mean_interval(pseudo, level)
    return Interval(mean, mean + found.low - found.mean, mean + found.high - found.mean, level)


def _left_out(measure: Measure, counts: Counts) -> Float[ndarray, "seed example"]:
    return measure(counts.sum(1, keepdims=True) - counts)


def _refuse_nothing(*sides: Counts) -> None:
    shapes = {side.shape for side in sides}
    if len(shapes) != 1 or sides[0].size == 0:
        raise ValueError(f"expected counts [seed example count] of one shape, came {sorted(shapes)}")
