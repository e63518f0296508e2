"""Weights over pieces as weights over words, against a slow loop."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from whence.measures.subwords import across, to_words

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
def test_pieces_are_summed_to_and_averaged_from(renormalise):
    weights = np.random.default_rng(0).dirichlet(np.ones(8), size=(2, HEADS, 8))
    found = to_words(weights, WORD, N_WORDS, renormalise=renormalise)
    expected = [[slow(weights[b, h], WORD[b], renormalise) for h in range(HEADS)] for b in range(2)]
    assert_allclose(found, expected)
    assert_allclose(to_words(weights[0], WORD[0], N_WORDS, renormalise=renormalise), expected[0])
    if renormalise:
        assert_allclose(found.sum(-1)[0], [[1, 1, 1, 0]] * HEADS)


def test_words_of_one_piece_keep_their_weights():
    weights = np.random.default_rng(0).dirichlet(np.ones(4), size=(2, 4))
    assert_allclose(to_words(weights, np.arange(4), 4), weights)


def test_pieces_that_are_apart_belong_to_one_word():
    weights = np.random.default_rng(0).dirichlet(np.ones(8), size=(1, 8))
    word = np.array([2, 0, -1, 1, 0, 2, 2, 0])
    assert_allclose(to_words(weights, word, N_WORDS)[0], slow(weights[0], word, False))


def test_from_one_text_to_another():
    """Against products with matrices of memberships."""
    weights = np.random.default_rng(0).dirichlet(np.ones(5), size=(2, HEADS, 8)).astype(np.float32)
    source = np.array([[0, 0, 1, -1, -1], [-1, 0, 1, 2, 2]])
    asking, asked = (np.eye(n + 1)[word][..., :n] for word, n in ((WORD, N_WORDS), (source, 3)))  # -1: the last
    sizes = asking.sum(1).clip(1)[:, None, :, None]
    expected = asking.swapaxes(1, 2)[:, None] @ weights @ asked[:, None] / sizes
    found = across(weights, (WORD, N_WORDS), (source, 3))
    assert found.dtype == np.float32
    assert_allclose(found, expected, rtol=1e-5)


def test_a_text_without_words():
    assert not to_words(np.ones((1, 3, 3)), np.full(3, -1), 2).any()
