"""Dependency trees as heads: for every word the place of its head, counted from 0, and -1 for the root."""

from collections.abc import Iterable, Sequence

import numpy as np
from jaxtyping import Bool, Int
from numpy import ndarray

from whence.core.errors import BadData

ROOT = -1
Heads = Sequence[int]


def check_tree(heads: Heads, words: int, what: str = "heads") -> None:
    """Raise unless the heads make one tree of so many words: one root, no cycle, a head for every word."""
    if len(heads) != words:
        raise BadData(f"{what} must name the head of every word; there are {len(heads)} heads and {words} words")
    wrong = [place for place, head in enumerate(heads) if not ROOT <= head < words or head == place]
    if wrong:
        came = f"word {wrong[0]} has the head {heads[wrong[0]]}"
        raise BadData(f"{what} are places of other words, from 0 to {words - 1}, or {ROOT} for the root; {came}")
    roots = [place for place, head in enumerate(heads) if head == ROOT]
    if len(roots) != 1:
        raise BadData(f"{what} must have one root ({ROOT}); there are {len(roots)}")
    lost = ring(heads)
    if lost is not None:
        raise BadData(f"{what} go round in a circle: following them from word {lost} never comes to the root")


def is_tree(heads: Heads) -> bool:
    """Whether the heads make one tree."""
    try:
        check_tree(heads, len(heads))
    except BadData:
        return False
    return True


def ring(heads: Heads) -> int | None:
    """A word from which the root is never reached; None if there is none."""
    safe = {ROOT}
    for word in range(len(heads)):
        path, at = set[int](), word
        while at not in safe and at not in path:
            path.add(at)
            at = heads[at]
        if at not in safe:
            return word
        safe |= path
    return None


def top_down(heads: Heads) -> list[int]:
    """The words, each after its head."""
    below, order = children(heads), [list(heads).index(ROOT)]
    for word in order:  # it grows as it is read
        order += below[word]
    return order


def children(heads: Heads) -> list[list[int]]:
    """For every word those that hang on it, from left to right."""
    below: list[list[int]] = [[] for _ in heads]
    for word, head in enumerate(heads):
        if head != ROOT:
            below[head].append(word)
    return below


def depths(heads: Heads) -> Int[ndarray, " word"]:
    """How many arcs lie between each word and the root, which has depth 0."""
    depth = np.zeros(len(heads), int)
    for word in top_down(heads)[1:]:
        depth[word] = depth[heads[word]] + 1
    return depth


def distances(heads: Heads) -> Int[ndarray, "word word"]:
    """How many arcs lie between any two words, whichever way they point."""
    apart = np.zeros((len(heads), len(heads)), int)
    order = top_down(heads)
    for number, word in enumerate(order[1:], start=1):
        placed = order[:number]
        apart[word, placed] = apart[placed, word] = apart[heads[word], placed] + 1
    return apart


def is_projective(heads: Heads) -> bool:
    """Whether no two arcs cross when drawn above the sentence, that of the root coming from before the first word."""
    place, head = np.arange(len(heads)), np.asarray(heads)
    low, high = np.minimum(place, head), np.maximum(place, head)
    crossing = (low[:, None] < low) & (low < high[:, None]) & (high[:, None] < high)
    return not crossing.any()


def arc_lengths(heads: Heads) -> Int[ndarray, " arc"]:
    """How many places lie between each word and its head; the root has no arc."""
    place, head = np.arange(len(heads)), np.asarray(heads, int)
    return np.asarray(abs(place - head)[head != ROOT])


def heads_before(heads: Heads) -> Bool[ndarray, " arc"]:
    """For every word but the root whether its head comes before it."""
    place, head = np.arange(len(heads)), np.asarray(heads, int)
    return np.asarray((head < place)[head != ROOT])


def share_before(trees: Iterable[Heads]) -> float:
    """The share of words, roots left out, whose head comes before them (Varano 2019, §5.1); NaN if there are none."""
    marks = [heads_before(heads) for heads in trees]
    arcs = sum(map(len, marks))
    return sum(int(mark.sum()) for mark in marks) / arcs if arcs else float("nan")


def padded(trees: Sequence[Heads], length: int | None = None) -> Int[ndarray, "batch word"]:
    """Trees of several sentences as one array; past the end of a sentence, as for its root, there is -1."""
    rows = np.full((len(trees), max(map(len, trees), default=0) if length is None else length), ROOT)
    for row, heads in zip(rows, trees, strict=True):
        row[: len(heads)] = heads
    return rows
