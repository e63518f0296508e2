"""p values corrected for several tests (Holm 1979)."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray


def holm(p: Float[ndarray, " test"]) -> Float[ndarray, " test"]:
    """p corrected for all tests: the smallest times their number, the next times one less, none below one before it.

    The same as statsmodels' `multipletests(p, method="holm")`, which collects all garbage first and so takes longer
    than a whole table does.
    """
    order = np.argsort(p, kind="stable")
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return corrected
