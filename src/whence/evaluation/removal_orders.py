"""Which inputs are removed, in which order, and when the predicted class changes."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from whence.measures.divergence import js_divergence

if TYPE_CHECKING:
    from whence.evaluation.token_erasure import TokenErasure

DEPTHS = 16  # removals of a text tried at a time


def ranks(scores: Float[ndarray, "batch token"], inputs: Bool[ndarray, "batch token"]) -> Int[ndarray, "batch token"]:
    """The place of each token in its text's order: inputs by falling score, of equal ones the first; then the rest."""
    order = np.argsort(np.where(inputs, -scores.astype(float), np.inf), axis=1, kind="stable")
    return np.argsort(order, axis=1, kind="stable")


def top_and_other(
    weights: Float[ndarray, "batch token"], drawn: Float[ndarray, "batch token"], inputs: Bool[ndarray, "batch token"]
) -> tuple[Int[ndarray, " batch"], Int[ndarray, " batch"]]:
    """i*, the input with the largest weight, and r, of the others the one with the largest random number."""
    top = ranks(weights, inputs).argmin(1)
    others = inputs & (np.arange(inputs.shape[1]) != top[:, None])
    return top, ranks(drawn, others).argmin(1)


def single_removals(erasing: "TokenErasure", places: Int[ndarray, "times batch"]) -> Float[ndarray, "times batch"]:
    """JS(p, q), q being the prediction without one input each."""
    removed = (np.arange(erasing.inputs.shape[1]) == places[..., None]) & (erasing.inputs.sum(1) > 1)[:, None]
    without = erasing(removed)
    return np.maximum(js_divergence(np.broadcast_to(erasing.base, without.shape), without), 0.0)


def removals_to_flip(erasing: "TokenErasure", scores: Float[ndarray, "batch token"]) -> Float[ndarray, " batch"]:
    """The share of its inputs, largest score first, that must be removed until a text's decision changes; else NaN.

    At most all but one are removed. A text whose decision has changed is left alone from then on.
    """
    rank, count = ranks(scores, erasing.inputs), erasing.inputs.sum(1)
    decision, found = erasing.base.argmax(-1), np.full(len(count), np.nan)
    for first in range(1, int(count.max()), DEPTHS):
        depth = np.arange(first, min(first + DEPTHS, count.max()))[:, None]  # [times 1]
        tried = (depth < count) & np.isnan(found)  # [times batch]
        if not tried.any():
            break
        removed = (rank < depth[..., None]) & tried[..., None]  # [times batch token]
        changed = (erasing(removed).argmax(-1) != decision) & tried
        at = first + changed.argmax(0)
        found = np.where(changed.any(0), at / np.maximum(count, 1), found)
    return found
