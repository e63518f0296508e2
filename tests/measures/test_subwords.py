"""Weights over pieces as weights over words, against a slow loop."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from whence.measures.subwords import membership, to_words

WORD = np.array([[-1, 0, 0, 1, 2, 2, 2, -1], [-1, 0, 1, 1, -1, -1, -1, -1]])  # two texts, the second padded
N_WORDS, HEADS = 4, 3  # the last word of both was cut


def slow(weights, word, renormalise):
    """One head of one text."""
    made = np.zeros((N_WORDS, N_WORDS))
    for query in range(N_WORDS):
        rows = [i for i, w in enumerate(word) if w == query]
        for key in range(N_WORDS):
            for row in rows:
                made[query, key] += sum(weights[row, j] for j, w in enumerate(word) if w == key) / len(rows)
        if renormalise and made[query].sum() > 0:
            made[query] /= made[query].sum()
    return made


@pytest.mark.parametrize("renormalise", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, torch.tensor])
def test_pieces_are_summed_to_and_averaged_from(kind, renormalise):
    weights = np.random.default_rng(0).dirichlet(np.ones(8), size=(2, HEADS, 8))
    found = to_words(kind(weights), kind(membership(WORD, N_WORDS)), renormalise=renormalise)
    assert isinstance(found, torch.Tensor if kind is torch.tensor else np.ndarray)
    expected = [[slow(weights[b, h], WORD[b], renormalise) for h in range(HEADS)] for b in range(2)]
    assert_allclose(np.asarray(found), expected)
    one = to_words(kind(weights[0]), kind(membership(WORD[0], N_WORDS)), renormalise=renormalise)
    assert_allclose(np.asarray(one), expected[0])
    if renormalise:
        assert_allclose(np.asarray(found.sum(-1))[0], [[1, 1, 1, 0]] * HEADS)


def test_words_of_one_piece_keep_their_weights():
    weights = np.random.default_rng(0).dirichlet(np.ones(4), size=(2, 4))
    assert_allclose(to_words(weights, membership(np.arange(4), 4)), weights)
