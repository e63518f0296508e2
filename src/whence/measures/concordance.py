"""How far a predicted series agrees with the true one: Lin's (1989) concordance correlation (Wu et al. 2020)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray


def concordance(true: Float[ndarray, " window"], predicted: Float[ndarray, " window"]) -> float:
    """2 cov / (var_t + var_p + (mean_t − mean_p)²), all with ddof 0: 1 (equal), 0 (unrelated), −1 (opposite).

    Unlike Pearson's, it falls when a series is shifted or stretched. A constant series has no covariance with any
    other, so the formula gives 0; where both are the same constant it gives 0/0, which counts as agreement: 1.
    """
    if true.shape != predicted.shape or true.size == 0 or not np.isfinite([true, predicted]).all():
        raise ValueError(f"expected two finite series of one length, got {true.shape} and {predicted.shape}")
    if np.array_equal(true, predicted):
        return 1.0
    covariance = ((true - true.mean()) * (predicted - predicted.mean())).mean()
    apart = true.var() + predicted.var() + (true.mean() - predicted.mean()) ** 2
    return float(2 * covariance / apart) if apart > 0 else 1.0  # equal up to underflow


def concordances(true: Sequence[ndarray], predicted: Sequence[ndarray]) -> Float[ndarray, " example"]:
    """The concordance of each series [window]; their mean is the score of a model (Wu et al. 2020, Table 1)."""
    pairs = zip(true, predicted, strict=True)
    return np.array([concordance(np.asarray(t, float), np.asarray(p, float)) for t, p in pairs])


@dataclass(frozen=True)
class Spread:
    """A mean over runs and examples with its two standard deviations, as Table 1 of Wu et al. 2020 has them.

    `over_runs` is that of the runs' means (ddof 1, since runs are a sample; NaN for one run), `over_examples` that of
    the examples within a run (ddof 0, as the authors' code has it), mean over the runs.
    """

    mean: float
    over_runs: float
    over_examples: float


def spread(scores: Float[ndarray, "run example"]) -> Spread:
    """The mean of a score and how it varies, from run to run and from example to example."""
    if scores.size == 0:
        raise ValueError(f"expected scores [run example], got {scores.shape}")
    over_runs = scores.mean(1).std(ddof=1) if len(scores) > 1 else np.nan
    return Spread(float(scores.mean()), float(over_runs), float(scores.std(1).mean()))
