"""Alignment error rate: by hand, beside sets of links, and chance by brute force."""

from itertools import product

import numpy as np
import pytest

from whence.measures.alignment_error import by_chance, counted, diagonal, error_rate, linked, precision, recall


def matrix(links, n_source, n_target):
    found = np.zeros((n_target, n_source), bool)
    for i, j in links:
        found[j, i] = True
    return found


def test_och_and_ney_by_hand():
    """Three links found, two sure, one more possible: one of the found is sure, two are possible."""
    found, sure, possible = (matrix(links, 3, 3) for links in ([(0, 0), (1, 1), (2, 1)], [(0, 0), (1, 2)], [(1, 1)]))
    counts = counted(found, sure, possible)
    assert counts.tolist() == [3, 2, 1, 2]
    assert error_rate(counts) == pytest.approx(1 - (1 + 2) / (3 + 2))
    assert precision(counts) == pytest.approx(2 / 3)
    assert recall(counts) == pytest.approx(1 / 2)
    assert counted(found, sure).tolist() == [3, 2, 1, 1]


def test_against_sets_of_links():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n_source, n_target = rng.integers(1, 7, 2)
        every = list(product(range(n_source), range(n_target)))
        a, s, p = ({link for link in every if rng.random() < 0.4} for _ in range(3))
        counts = counted(*(matrix(links, n_source, n_target) for links in (a, s, p)))
        p |= s
        if a or s:
            assert error_rate(counts) == pytest.approx(1 - (len(a & s) + len(a & p)) / (len(a) + len(s)))
        if a and s:
            p_, r_ = len(a & s) / len(a), len(a & s) / len(s)
            f1 = 0.0 if not a & s else 2 * p_ * r_ / (p_ + r_)
            ungraded = counted(matrix(a, n_source, n_target), matrix(s, n_source, n_target))
            assert error_rate(ungraded) == pytest.approx(1 - f1), "with sure links alone it is 1 − F₁"


def test_a_corpus_is_the_sum_of_its_sentences_and_nothing_is_not_a_number():
    sums = np.array([[3.0, 2, 1, 2], [1.0, 2, 1, 1]]).sum(0)
    assert error_rate(sums) == pytest.approx(1 - (2 + 3) / (4 + 4))
    nothing = np.zeros(4)
    assert np.isnan([error_rate(nothing), precision(nothing), recall(nothing)]).all()


def test_every_target_word_is_linked_to_its_largest_weight():
    weights = np.array([[0.5, 0.3, 0.2], [0.6, 0.4, 0.0], [0.1, 0.1, 0.8], [0.0, 0.0, 0.0]])
    assert np.argwhere(linked(weights)).tolist() == [[0, 0], [1, 0], [2, 2]]
    assert np.argwhere(linked(weights, "mutual")).tolist() == [[1, 0], [2, 2]]
    assert np.argwhere(linked(weights, "threshold", 0.4)).tolist() == [[0, 0], [1, 0], [1, 1], [2, 2]]
    nothing = np.array([0.5, 0.1, 0.9, 0.0])
    assert np.argwhere(linked(weights, nothing=nothing)).tolist() == [[1, 0]]
    both = linked(np.stack([weights, weights[:, ::-1]]))
    assert (both[1] == linked(weights[:, ::-1])).all()


def test_of_equal_weights_the_first_counts():
    assert np.argwhere(linked(np.full((2, 3), 1 / 3))).tolist() == [[0, 0], [1, 0]]


def test_the_diagonal_by_hand():
    assert np.argwhere(diagonal(3, 3)).tolist() == [[0, 0], [1, 1], [2, 2]]
    assert np.argwhere(diagonal(4, 2)).tolist() == [[0, 1], [1, 3]]
    assert np.argwhere(diagonal(2, 5)).tolist() == [[0, 0], [1, 0], [2, 1], [3, 1], [4, 1]]
    assert np.argwhere(diagonal(1, 2)).tolist() == [[0, 0], [1, 0]]


def test_chance_is_the_mean_over_all_ways_to_link_each_target_word_once():
    sure = matrix([(0, 0), (2, 0), (1, 1)], 3, 2)
    ways = [counted(matrix([(a, 0), (b, 1)], 3, 2), sure) for a, b in product(range(3), repeat=2)]
    np.testing.assert_allclose(counted(by_chance(3, 2), sure), np.mean(ways, axis=0))
    assert error_rate(counted(by_chance(3, 2), sure)) == pytest.approx(np.mean([error_rate(way) for way in ways]))
