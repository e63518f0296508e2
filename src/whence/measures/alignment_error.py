"""Word alignment: the links that attention makes between two texts, and how far they are from reference links.

Och & Ney 2003, §2.1 (their Eq. for AER). With A the links found, S the sure and P ⊇ S the possible reference links,

    precision = |A ∩ P| / |A| · recall = |A ∩ S| / |S| · error rate = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)

over all sentences of a corpus. Where references are not graded, P = S, and the error rate is 1 − F₁.
"""

from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float, Shaped
from numpy import ndarray

How = Literal["target", "mutual", "threshold"]
Counts = Float[ndarray, "*corpora 4"]  # |A|, |S|, |A ∩ S|, |A ∩ P|


def linked(
    weights: Float[ndarray, "*heads target source"],
    how: How = "target",
    threshold: float = 0.2,
    nothing: Float[ndarray, "*heads target"] | None = None,
) -> Bool[ndarray, "*heads target source"]:
    """Links from attention between words: each `target` word to the source word that it gives most weight.

    `mutual` keeps those of them whose source word gets more from no other target word; `threshold` links wherever a
    weight is at least so large. Of equal weights the first counts, and a row of zeros has no link. A target word that
    gives as much to `nothing` (a special token) as to any source word has none either.
    """
    if how == "threshold":
        found = weights >= threshold
    else:
        found = _largest(weights)
        found = found & _largest(weights.swapaxes(-1, -2)).swapaxes(-1, -2) if how == "mutual" else found
    if nothing is not None:
        found = found & (weights.max(-1, initial=0.0) > nothing)[..., None]
    return found & (weights > 0)


def _largest(weights: Float[ndarray, "*heads query key"]) -> Bool[ndarray, "*heads query key"]:
    """True at the first of the largest weights of each row."""
    return np.arange(weights.shape[-1]) == weights.argmax(-1)[..., None]


def diagonal(n_source: int, n_target: int) -> Bool[ndarray, "target source"]:
    """Each target word linked to the source word at the same share of the way: (j + ½) n/m, cut down."""
    places = (2 * np.arange(n_target) + 1) * n_source // (2 * n_target)
    return places[:, None] == np.arange(n_source)


def by_chance(n_source: int, n_target: int) -> Float[ndarray, "target source"]:
    """Each target word linked to one source word by chance: how often each link is expected."""
    return np.full((n_target, n_source), 1 / n_source)


def counted(
    found: Shaped[ndarray, "*heads target source"],
    sure: Bool[ndarray, "target source"],
    possible: Bool[ndarray, "target source"] | None = None,
) -> Float[ndarray, "*heads 4"]:
    """|A|, |S|, |A ∩ S| and |A ∩ P| of one pair of sentences; links found may also be expectations."""
    links = found.astype(float)
    may_be = sure if possible is None else sure | possible
    sums = (links, np.broadcast_to(sure, links.shape), links * sure, links * may_be)
    return np.stack([one.sum((-1, -2)) for one in sums], -1).astype(float)


def error_rate(counts: Counts) -> Float[ndarray, "*corpora"]:
    """The alignment error rate, 0 if all links are right and none is missing; NaN where there are no links at all."""
    found, sure, found_sure, found_possible = np.moveaxis(counts, -1, 0)
    return np.asarray(1 - _share(found_sure + found_possible, found + sure))


def precision(counts: Counts) -> Float[ndarray, "*corpora"]:
    """The share of the links found that are possible; NaN where none is found."""
    return _share(counts[..., 3], counts[..., 0])


def recall(counts: Counts) -> Float[ndarray, "*corpora"]:
    """The share of the sure links that are found; NaN where there are none."""
    return _share(counts[..., 2], counts[..., 1])


def _share(part: Any, whole: Any) -> Float[ndarray, "*corpora"]:
    """A quotient; NaN where there is nothing to divide by."""
    return np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=np.asarray(whole > 0))
