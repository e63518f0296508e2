"""Two looks side by side: which tokens stand for each other, and how differently each head attends."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

import numpy as np
from numpy import ndarray

from whence.core.errors import BadConfig
from whence.measures.divergence import total_variation
from whence.workbench.operations.axes import Matrix, Shown, Token
from whence.workbench.operations.looking import Look, Stack

Pairs = list[tuple[int, int]]


def compare(a: Look, b: Look, stack: str) -> dict[str, Any]:
    """The aligned tokens of two looks, and of each head the mean distance of its aligned rows.

    The distance of two rows is their total variation over the aligned keys, all other keys taken as one.
    """
    one, other = a.stack(stack), b.stack(stack)
    queries = aligned(a.axes[one.query_axis], b.axes[other.query_axis])
    keys = aligned(a.axes[one.key_axis], b.axes[other.key_axis])
    if not queries or not keys:
        raise BadConfig("the two texts have no token in common; expected texts that differ in a few words")
    return {
        "aligned": {"queries": queries, "keys": keys},
        "differences": [_layer(x, y, queries, keys) for x, y in _layers(one, other)],
        "tvd": _moved(a, b),
        "notes": _notes(one, other),
    }


def aligned(first: Sequence[Token], second: Sequence[Token]) -> Pairs:
    """Tokens that are equal, in order; and between them, where as many were replaced, those in the same place."""
    one, two = ([token.text for token in tokens] for tokens in (first, second))
    pairs: Pairs = []
    for kind, begin, end, other, other_end in SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        if kind == "equal" or (kind == "replace" and end - begin == other_end - other):
            pairs += [(begin + place, other + place) for place in range(end - begin)]
    return pairs


def _layers(one: Stack, other: Stack) -> list[tuple[ndarray, ndarray]]:
    return list(zip(one.weights, other.weights, strict=False))


def _layer(first: ndarray, second: ndarray, queries: Pairs, keys: Pairs) -> list[float]:
    """Of each head that both have, how far its aligned rows are apart."""
    heads = min(len(first), len(second))
    rows = [_cut(matrix[:heads], queries, keys, side) for side, matrix in enumerate((first, second))]
    return [round(float(value), 6) for value in total_variation(*rows).mean(-1)]


def _cut(weights: Matrix, queries: Pairs, keys: Pairs, side: int) -> Shown:
    """The aligned rows and keys of one of the two, and the rest of each row as a last key: [head query key + 1]."""
    rows = weights[:, [pair[side] for pair in queries]].astype(np.float64)
    kept = rows[..., [pair[side] for pair in keys]]
    rest = rows.sum(-1, keepdims=True) - kept.sum(-1, keepdims=True)
    return np.concatenate([kept, rest], axis=-1)


def _moved(a: Look, b: Look) -> float | None:
    """How far the predictions are apart, where both are over the same classes."""
    if a.probabilities is None or b.probabilities is None or a.probabilities.shape != b.probabilities.shape:
        return None
    return float(total_variation(a.probabilities, b.probabilities))


def _notes(one: Stack, other: Stack) -> list[str]:
    """What is compared of two models that differ in size."""
    sizes = [(len(stack.weights), max(map(len, stack.weights))) for stack in (one, other)]
    if sizes[0] == sizes[1]:
        return []
    shapes = " and ".join(f"{layers} layers of {heads} heads" for layers, heads in sizes)
    return [f"The models have {shapes}: layers and heads of the same number are compared, which need not correspond."]
