"""How well chosen words agree with marked ones: F1 of words, and F1 of spans that overlap by half.

DeYoung et al. 2020 §4.1. Words are chosen by their scores, as many as are marked in an average text of the corpus.
"""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

OVERLAP = 0.5  # of the intersection over the union, for two spans to match


def highest(scores: Float[ndarray, " word"], share: float) -> Bool[ndarray, " word"]:
    """The words with the highest scores, a share of all and one at least; of equal ones the first."""
    n = max(1, round(share * len(scores)))
    return np.isin(np.arange(len(scores)), np.argsort(-scores, kind="stable")[:n])


def token_f1(chosen: Bool[ndarray, " word"], marked: Bool[ndarray, " word"]) -> float:
    """The harmonic mean of precision and recall of the chosen words."""
    return 2 * float((chosen & marked).sum()) / float(chosen.sum() + marked.sum())


def iou_f1(chosen: Bool[ndarray, " word"], marked: Bool[ndarray, " word"]) -> float:
    """The F1 of spans (runs of consecutive words): one matches if its intersection with a span of the other side is at
    least half of their union.
    """
    ours, theirs = spans(chosen), spans(marked)
    found = sum(any(_overlap(one, other) >= OVERLAP for other in theirs) for one in ours)
    recalled = sum(any(_overlap(one, other) >= OVERLAP for one in ours) for other in theirs)
    precision, recall = found / max(len(ours), 1), recalled / max(len(theirs), 1)
    return 2 * precision * recall / (precision + recall) if found else 0.0


def spans(marks: Bool[ndarray, " word"]) -> list[tuple[int, int]]:
    """The runs of consecutive marked words: where each begins and where it has ended."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], marks.astype(int), [0]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> float:
    """Intersection over union of two spans."""
    shared = max(0, min(one[1], other[1]) - max(one[0], other[0]))
    return shared / (one[1] - one[0] + other[1] - other[0] - shared)
