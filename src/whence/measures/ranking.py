"""How well scores put the marked items before the others."""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray


def average_precision(scores: Float[ndarray, " item"], marked: Bool[ndarray, " item"]) -> float:
    """The area under the curve of precision over recall, as a sum of steps: Σ (R_n − R_{n−1}) P_n.

    P_n and R_n are precision and recall when every item that scores at least the n-th highest score is taken; items of
    the same score are taken together. 1 if all marked items come first. Scores by chance give about the share that is
    marked. It needs a marked item: NaN if there is none.
    """
    if scores.shape != marked.shape or not np.isfinite(scores).all():
        raise ValueError(f"expected finite scores and as many marks, came {scores.shape} and {marked.shape}")
    if not marked.any():
        return float("nan")
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.diff(scores[order]) != 0, True)  # of the items with the same score
    found = np.cumsum(marked[order])[last]
    precision = found / (np.flatnonzero(last) + 1)
    return float((np.diff(found, prepend=0) * precision).sum() / marked.sum())
