"""How far two distributions are apart. The functions take numpy arrays and torch tensors alike."""

from typing import TypeVar

import numpy as np
from jaxtyping import Float
from numpy import ndarray

Array = TypeVar("Array")


def total_variation(p: Array, q: Array) -> Array:
    """Total variation distance, ½ Σ |p − q| over the last axis: 0 (equal) to 1 (disjoint). Vashishth et al. 2019 §4.1.

    Differs from Jain & Wallace's and Wiegreffe & Pinter's code, which take |p − q| of one sigmoid, once whole and once
    halved; for two classes the whole is the total variation.
    """
    return abs(p - q).sum(-1) / 2  # type: ignore[operator]


def js_divergence(p: Float[ndarray, "*rows class"], q: Float[ndarray, "*rows class"]) -> Float[ndarray, "*rows"]:
    """Jensen–Shannon divergence in nats, over the last axis: 0 (equal) to ln 2 (disjoint).

    ½ KL(p ‖ m) + ½ KL(q ‖ m), where m = (p + q) / 2; finite also where one of them is zero.
    """
    mean = (p + q) / 2
    return np.asarray((kl_divergence(p, mean) + kl_divergence(q, mean)) / 2)


def kl_divergence(p: Float[ndarray, "*rows class"], q: Float[ndarray, "*rows class"]) -> Float[ndarray, "*rows"]:
    """KL(p ‖ q) = Σ p ln(p / q) in nats, over the last axis; infinite where q is zero and p is not."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0, p * (np.log(p) - np.log(q)), 0.0)
    return np.asarray(terms.sum(-1))
