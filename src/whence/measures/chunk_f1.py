"""Chunks of a sentence and their F1, as the script of CoNLL-2000 (conlleval) computes it, from counts that add up."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray

COUNTS = 3  # correct, predicted and true chunks
OUTSIDE = "O"


class Chunk(NamedTuple):
    """Words from `start` up to `end`, which is not part of it, and what they are."""

    start: int
    end: int
    kind: str


def is_iob(labels: Collection[str]) -> bool:
    """Whether labels are those of chunks: every one is O, B-x or I-x, and some are not O."""
    kinds = [kind for place, dash, kind in map(parted, labels) if place in ("B", "I") and dash and kind]
    return bool(kinds) and len(kinds) + (OUTSIDE in labels) == len(labels)


def parted(tag: str) -> tuple[str, str, str]:
    """A tag as its place (B, I or O), a dash, and the kind of chunk."""
    return tag.partition("-")


def segments(tags: Sequence[str]) -> list[Chunk]:
    """The chunks of a sentence.

    A chunk begins at B-x, and also at an I-x that does not go on with a chunk of kind x: the script of CoNLL-2000 is
    lenient, and so is seqeval except in its strict mode.
    """
    found, start, open_kind = [], 0, ""
    for here, tag in enumerate([*tags, OUTSIDE]):
        place, _, kind = parted(tag)
        if open_kind and (place != "I" or kind != open_kind):
            found.append(Chunk(start, here, open_kind))
            open_kind = ""
        if place != OUTSIDE and not open_kind:
            start, open_kind = here, kind
    return found


def chunk_counts(predicted: Sequence[Sequence[str]], true: Sequence[Sequence[str]]) -> Float[ndarray, "example count"]:
    """For each sentence how many chunks are right (same words, same kind), predicted, and true."""
    rows = []
    for one, other in zip(predicted, true, strict=True):
        if len(one) != len(other):
            raise ValueError(f"expected as many tags as words; got {len(one)} tags for {len(other)} words")
        found, wanted = set(segments(one)), set(segments(other))
        rows.append([len(found & wanted), len(found), len(wanted)])
    return np.array(rows, float).reshape(-1, COUNTS)


def chunk_f1(counts: Float[ndarray, "*corpora count"]) -> Float[ndarray, "*corpora"]:
    """F1 in per cent of counts that were summed over a corpus; many corpora at once.

    The harmonic mean of precision (right of those predicted) and recall (right of those true), which is
    2 · right / (predicted + true); 0 where there is no chunk at all.
    """
    right, there = counts[..., 0], counts[..., 1] + counts[..., 2]
    return np.asarray(100 * 2 * right / np.where(there > 0, there, 1.0))


def sentence_f1(counts: Float[ndarray, "example count"]) -> Float[ndarray, " example"]:
    """F1 in per cent of single sentences; 100 for one without true or predicted chunks."""
    nothing = (counts[:, 1] + counts[:, 2]) == 0
    return np.asarray(np.where(nothing, 100.0, chunk_f1(counts)))
