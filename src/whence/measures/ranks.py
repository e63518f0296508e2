"""How far two orders of the same things agree."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray


def kendall_tau(first: Float[ndarray, " item"], second: Float[ndarray, " item"]) -> float:
    """Kendall's τ-b: 1 (the same order) to -1 (the reverse); NaN where there is no order: one item, or all equal.

    τ = (C − D) / √((C + D + T₁)(C + D + T₂)): C pairs in the same order, D in the reverse, T₁ and T₂ ties of one alone.
    """
    pairs = np.triu_indices(len(first), 1)
    one, other = (np.sign(values[pairs[0]] - values[pairs[1]]) for values in (first, second))
    ordered = np.sqrt(float((one != 0).sum()) * float((other != 0).sum()))
    return float((one * other).sum() / ordered) if ordered else float("nan")
