"""The distance of attention from trees: divergence per token (Varano 2019), and how often a head finds the parent.

All functions take a padded batch and measure every attention head and token at once; a place where there is nothing to
measure (a root, padding) is NaN.
"""

from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

Masked = Literal["zero", "skip", "floor"]
OFFSETS = (-3, -2, -1, 1, 2, 3)
LEAST = float(np.finfo(np.float32).tiny)  # a permitted weight that has sunk to zero is taken for this


class TreeDivergence(NamedTuple):
    """D_KL(P ‖ Q) of every head and token, and the share of P that lies where Q may attend."""

    values: Float[ndarray, "batch head query"]
    coverage: Float[ndarray, "batch query"]


class Arcs(NamedTuple):
    """Where references are not zero, in the order of trees, sentences and tokens: found once, used for every layer."""

    shape: tuple[int, ...]  # [tree batch query key]
    place: Int[ndarray, "axis arc"]  # of which tree, sentence, query and key
    p: Float[ndarray, " arc"]
    begins: Int[ndarray, " token"]  # the first arc of each token


def arcs_of(references: Float[ndarray, "tree batch query key"]) -> Arcs:
    """The arcs of one or more trees for each sentence of a batch."""
    place = np.stack(np.nonzero(references))
    token = (place[0] * references.shape[1] + place[1]) * references.shape[2] + place[2]
    return Arcs(references.shape, place, references[tuple(place)], np.flatnonzero(np.diff(token, prepend=-1)))


def tree_divergence(
    reference: Float[ndarray, "batch query key"],
    weights: Float[ndarray, "batch head query key"],
    allowed: Bool[ndarray, "batch query key"] | None = None,
    *,
    masked: Masked = "zero",
    floor: float = 1e-6,
) -> TreeDivergence:
    """D_KL(P ‖ Q) = Σ P ln P − Σ P ln Q in nats, of a reference P (`data/syntax/tree_attention.py`) from attention Q
    (Varano 2019, §4.2).

    Where a mask forbids Q to attend to what P is on (a parent on the wrong side of DiSAN's directional mask), the
    divergence is not defined, and a convention decides:

    - `zero`: forbidden places add nothing (the paper: "terms that contribute 0"). A token whose parent is forbidden
      counts as perfect, so that values depend on the direction of the mask: look at the coverage.
    - `skip`: P is confined to permitted places and made to sum to one; where nothing is left, nothing is measured.
    - `floor`: Q is taken to be at least `floor` everywhere, forbidden places included.

    Rows of P that are empty (a root) are not measured. *Differs from the paper* in this only if the paper, which says
    that the root's word "does not contribute", divides by the number of all tokens.
    """
    arcs = arcs_of(reference[None])
    found, share = token_divergence(arcs, weights, allowed, masked, floor)
    _, row, query, _ = arcs.place[:, arcs.begins]
    values, coverage = np.full(weights.shape[:3], np.nan), np.full(reference.shape[:2], np.nan)
    values[row, :, query], coverage[row, query] = found, share
    return TreeDivergence(values, coverage)


def sentence_divergence(
    arcs: Arcs,
    weights: Float[ndarray, "batch head query key"],
    allowed: Bool[ndarray, "batch query key"] | None = None,
    *,
    masked: Masked = "zero",
    floor: float = 1e-6,
) -> tuple[Float[ndarray, "tree batch head"], Float[ndarray, "tree batch"]]:
    """`tree_divergence` and its coverage for many trees at once, mean over the tokens of each sentence."""
    found, share = token_divergence(arcs, weights, allowed, masked, floor)
    tree, row, _, _ = arcs.place[:, arcs.begins]
    begins = np.flatnonzero(np.diff(tree * arcs.shape[1] + row, prepend=-1))  # the first token of each sentence
    both = np.concatenate([found, share[:, None]], axis=1)  # [token head+1]
    there = np.isfinite(both)
    means = np.full((*arcs.shape[:2], both.shape[1]), np.nan)
    sums, counts = (np.add.reduceat(part, begins) for part in (np.where(there, both, 0.0), there.astype(float)))
    means[tree[begins], row[begins]] = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return means[..., :-1], means[..., -1]


def token_divergence(
    arcs: Arcs, weights: ndarray, allowed: ndarray | None, masked: str, floor: float
) -> tuple[Float[ndarray, "token head"], Float[ndarray, " token"]]:
    """The divergence of every token that has arcs, and its coverage."""
    if masked not in ("zero", "skip", "floor"):
        raise ValueError(f"a masked parent counts as zero, skip or floor; {masked!r} is none of these")
    _, row, query, key = arcs.place
    p, q = arcs.p, weights[row, :, query, key].astype(float)  # [arc], [arc head]
    may = np.ones(len(row), bool) if allowed is None else allowed[row, query, key]
    share = np.add.reduceat(np.where(may, p, 0.0), arcs.begins) / np.add.reduceat(p, arcs.begins)  # [token]
    if masked == "skip":
        p = p / np.repeat(np.where(share > 0, share, 1.0), np.diff(arcs.begins, append=len(row)))
    found = np.add.reduceat(terms(p, q, may, floor if masked == "floor" else None), arcs.begins)  # [token head]
    found[(share == 0) & (masked == "skip")] = np.nan
    return found, share


def terms(
    p: Float[ndarray, " arc"], q: Float[ndarray, "arc head"], may: Bool[ndarray, " arc"], floor: float | None
) -> Float[ndarray, "arc head"]:
    """P ln(P / Q) of every arc; without a floor, nothing where Q may not attend."""
    at_least = np.maximum(np.where(may[:, None], q, 0.0), LEAST if floor is None else floor)
    each = p[:, None] * (np.log(p)[:, None] - np.log(at_least))
    return each if floor is not None else np.where(may[:, None], each, 0.0)


def attached(
    heads: Int[ndarray, "batch query"],
    weights: Float[ndarray, "batch head query key"],
    allowed: Bool[ndarray, "batch query key"] | None = None,
    *,
    masked: Literal["zero", "skip"] = "zero",
) -> Float[ndarray, "batch head query"]:
    """Whether the word that each head attends to most, itself left out, is the parent: 1 or 0 (Clark et al. 2019, §4).

    A parent that may not be attended to is missed (`zero`) or not measured (`skip`). For heads in which parents attend
    to children, give weights and mask with their last two axes exchanged.
    """
    places = np.arange(heads.shape[1])
    free = np.broadcast_to(places[:, None] != places, (*heads.shape, heads.shape[1]))  # [batch query key]
    free = free if allowed is None else free & allowed
    most = np.where(free[:, None], weights, -1.0).argmax(-1)  # [batch head query]
    reachable = np.take_along_axis(free, np.maximum(heads, 0)[..., None], -1)[..., 0]  # [batch query]
    hits = ((most == heads[:, None]) & reachable[:, None]).astype(float)
    measured = (heads >= 0) & (reachable | (masked == "zero"))
    return np.where(measured[:, None], hits, np.nan)


def offset_attached(
    heads: Int[ndarray, "batch query"], offsets: tuple[int, ...] = OFFSETS
) -> Float[ndarray, "batch offset query"]:
    """Whether the word at a fixed offset is the parent: the baseline of a head without syntax."""
    guess = np.arange(heads.shape[1]) + np.array(offsets)[:, None]  # [offset query]
    return np.where((heads >= 0)[:, None], (guess == heads[:, None]).astype(float), np.nan)


def best_offset(heads: Int[ndarray, "batch query"], offsets: tuple[int, ...] = OFFSETS) -> tuple[int, float]:
    """The offset at which most words have their parent, and the share of words that have it there."""
    shares = np.nanmean(offset_attached(heads, offsets), axis=(0, 2))
    return offsets[int(shares.argmax())], float(shares.max())


def by_sentence(values: Float[ndarray, "batch head query"]) -> Float[ndarray, "batch head"]:
    """The mean over the tokens of each sentence that were measured; NaN if none was."""
    there = np.isfinite(values)
    sums, counts = np.where(there, values, 0.0).sum(-1), there.sum(-1)
    return np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
