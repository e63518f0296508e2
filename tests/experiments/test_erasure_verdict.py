"""The verdict of erasure from tables made by hand."""

import re

import numpy as np
import pandas as pd
import pytest

from whence.experiments import erasure
from whence.results.verdict import Effect


def made(n=40, js=0.1, attention=0.1, gradient=0.1, random=0.5) -> pd.DataFrame:
    rows = {
        "example": range(n),
        "label": ["a"] * n,
        "position": [0] * n,
        "inputs": [10] * n,
        "top": [1] * n,
        "other": [2] * n,
        "delta_weight": [0.5] * n,
        "js_top": [js] * n,
        "js_other": [0.0] * n,
        "delta_js": [js] * n,
        "flip_attention": [attention] * n,
        "flip_gradient": [gradient] * n,
        "flip_random": [random] * n,
        "erased": ["attention"] * n,
        "weights": ["layer: last"] * n,
    }
    return erasure.COLUMNS.table(rows)


@pytest.mark.parametrize(
    ("numbers", "answer", "words"),
    [
        ({}, "yes", "moves the prediction more than removing another; .* earlier than .* no later than"),
        ({"js": 0.009}, "no", "hardly moves the prediction more"),
        ({"random": 0.14}, "no", "hardly earlier than removing them at random"),
        ({"gradient": 0.04}, "no", "clearly later than removing them in the order of gradients"),
        ({"gradient": 0.06}, "yes", "no later than"),
        ({"attention": np.nan, "gradient": np.nan, "random": np.nan}, "undecided", "too few predictions .* 40 of 40"),
        ({"attention": np.nan, "gradient": 0.5, "random": 0.5}, "no", "hardly earlier"),  # never is later than all
        ({"n": 9}, "undecided", "may or may not"),
    ],
)
def test_the_verdict(numbers, answer, words):
    table = made(**numbers)
    verdict = erasure.verdict(table)
    assert (verdict.question, verdict.answer) == (3, answer)
    assert re.search(words, verdict.sentence)
    assert erasure.figure(table).axes


def test_texts_that_no_order_changes_are_left_out_and_never_counts_as_all():
    table = pd.concat(
        [
            made(20, attention=np.nan, gradient=np.nan, random=np.nan),
            made(20, attention=0.2),
            made(20, attention=np.nan, gradient=0.3),
        ]
    )
    _, random, gradient = erasure.effects(table)
    assert (random.n, gradient.n) == (40, 40)
    assert random.value == pytest.approx(((0.5 - 0.2) + (0.5 - 1)) / 2)
    assert gradient.value == pytest.approx(((0.1 - 0.2) + (0.3 - 1)) / 2)


@pytest.mark.parametrize(
    ("low", "high", "stands"), [(0.06, 1.0, True), (0.05, 1.0, None), (0.0, 0.05, None), (0.0, 0.04, False)]
)
def test_effects_stand_by_their_whole_interval(low, high, stands):
    assert erasure._stands(Effect("flips_later", "", 0.1, low, high, "", 0.05, 9), 0.05) is stands
