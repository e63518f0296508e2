"""Overlap of chosen and marked words: by hand, and compared with scikit-learn and sets."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

from whence.measures.rationale_overlap import highest, iou_f1, spans, token_f1


def marks(text: str) -> np.ndarray:
    return np.array([letter == "x" for letter in text])


def test_token_f1_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    for _ in range(20):
        chosen, marked = rng.random((2, 12)) < 0.4
        if (chosen | marked).any():
            assert token_f1(chosen, marked) == pytest.approx(f1_score(marked, chosen))


@pytest.mark.parametrize(
    ("chosen", "marked", "expected"),
    [
        ("..xx..", "..xx..", 1.0),
        ("..xxx.", "..xx..", 1.0),  # 2 of 3
        ("xxxxx.", "..xx..", 0.0),  # 2 of 5
        ("x..xx.", "...xx.", 2 / 3),  # precision a half, recall 1
        ("......", "..x...", 0.0),
        ("x.x.x.", "x.....", 0.5),
    ],
)
def test_spans_that_overlap_by_half(chosen, marked, expected):
    assert iou_f1(marks(chosen), marks(marked)) == pytest.approx(expected)


def test_spans_and_the_highest_words():
    assert spans(marks("xx..x")) == [(0, 2), (4, 5)]
    assert spans(marks("...")) == []
    assert highest(np.array([0.1, 0.9, 0.9, 0.3]), 0.5).tolist() == [False, True, True, False]
    assert highest(np.array([0.1, 0.9, 0.9, 0.3]), 0.01).tolist() == [False, True, False, False]
