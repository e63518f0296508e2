import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import softmax

from whence.data.syntax.random_trees import uniform
from whence.data.syntax.tree_attention import REFERENCES
from whence.data.syntax.trees import distances

# she(0) saw(1) dogs(2): saw is the root
SAW = (1, -1, 1)


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("parent", [[0, 1, 0], [0, 0, 0], [0, 1, 0]]),
        ("children", [[0, 0, 0], [0.5, 0, 0.5], [0, 0, 0]]),
        ("neighbours", [[0, 1, 0], [0.5, 0, 0.5], [0, 1, 0]]),
        (
            "nearness",
            [
                [0, 1 / (1 + math.exp(-1)), 1 / (1 + math.e)],
                [0.5, 0, 0.5],
                [1 / (1 + math.e), 1 / (1 + math.exp(-1)), 0],
            ],
        ),
    ],
)
def test_a_sentence_by_hand(name, rows):
    assert_allclose(REFERENCES[name](SAW), rows)


@pytest.mark.parametrize("name", REFERENCES)
def test_rows_are_distributions_or_empty(name):
    for seed in range(20):
        heads = uniform([-1] * (1 + seed % 8), np.random.default_rng(seed))
        rows = REFERENCES[name](heads)
        sums = rows.sum(-1)
        assert np.all(np.isclose(sums, 1) | (sums == 0))
        assert np.all(np.diag(rows) == 0)
        empty = {"parent": 1, "children": sum(w not in heads for w in range(len(heads)))}
        assert (sums == 0).sum() == empty.get(name, int(len(heads) == 1))


def test_nearness_is_a_softmax_over_the_other_words():
    heads = uniform([-1] * 7, np.random.default_rng(0))
    apart = np.where(np.eye(7) == 1, np.inf, distances(heads))
    assert_allclose(REFERENCES["nearness"](heads), softmax(-apart, axis=-1))
