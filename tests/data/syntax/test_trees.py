"""Trees by hand, and by slow walks along their heads."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from whence.core.errors import BadData
from whence.data.examples import Corpus, Example
from whence.data.syntax import trees

# she(0) saw(1) the(2) old(3) dog(4): saw is the root
SAW = (1, -1, 4, 4, 1)


@st.composite
def some_tree(draw):
    """Words are taken up in any order, each hung on one that was taken up before."""
    order = draw(st.permutations(range(draw(st.integers(1, 9)))))
    heads = dict(zip(order, [-1, *(order[draw(st.integers(0, i))] for i in range(len(order) - 1))], strict=True))
    return tuple(heads[word] for word in range(len(order)))


def way_up(heads, word):
    """The words from one up to the root, both included."""
    path = [word]
    while heads[path[-1]] != -1:
        path.append(heads[path[-1]])
    return path


def test_a_tree_by_hand():
    assert trees.children(SAW) == [[], [0, 4], [], [], [2, 3]]
    assert_array_equal(trees.depths(SAW), [1, 0, 2, 2, 1])
    assert_array_equal(trees.arc_lengths(SAW), [1, 2, 1, 3])
    assert_array_equal(trees.heads_before(SAW), [False, False, False, True])
    assert trees.share_before([SAW, (-1, 0, 1)]) == 3 / 6
    assert np.isnan(trees.share_before([(-1,)]))
    assert trees.distances(SAW)[0].tolist() == [0, 1, 3, 3, 2]
    assert trees.top_down(SAW) == [1, 0, 4, 2, 3]
    assert_array_equal(trees.padded([SAW, (-1,)]), [[1, -1, 4, 4, 1], [-1] * 5])


@given(some_tree())
def test_depths_and_distances_are_those_of_a_walk(heads):
    ways = [way_up(heads, word) for word in range(len(heads))]
    assert trees.depths(heads).tolist() == [len(way) - 1 for way in ways]
    apart = [[len(set(one) ^ set(other)) for other in ways] for one in ways]
    assert trees.distances(heads).tolist() == apart


@given(some_tree())
def test_a_tree_is_projective_if_all_between_a_word_and_its_head_are_below_the_head(heads):
    below = all(
        head in way_up(heads, between)
        for word, head in enumerate(heads)
        if head != -1
        for between in range(min(word, head) + 1, max(word, head))
    )
    assert trees.is_projective(heads) == below


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_as_many_lists_of_heads_are_trees_as_there_are_rooted_trees(n):
    assert sum(map(trees.is_tree, product(range(-1, n), repeat=n))) == n ** (n - 1), "Cayley"


@pytest.mark.parametrize(
    ("heads", "says"),
    [
        ((1, -1), "there are 2 heads and 3 words"),
        ((1, -1, 3), r"from 0 to 2, or -1 for the root; word 2 has the head 3"),
        ((1, -1, 2), "word 2 has the head 2"),
        ((-2, -1, 1), "word 0 has the head -2"),
        ((-1, -1, 1), r"one root \(-1\); there are 2"),
        ((1, 2, 0), "there are 0"),
        ((1, 0, -1), "go round in a circle: following them from word 0"),
    ],
)
def test_what_is_no_tree_is_said(heads, says):
    with pytest.raises(BadData, match=f"^heads .*{says}"):
        Example("a b c", words=("a", "b", "c"), heads=heads)
    with pytest.raises(BadData, match=f"^pair_heads .*{says}"):
        Example("x", pair="a b c", pair_words=("a", "b", "c"), pair_heads=heads)


def test_trees_need_words_and_relations_need_as_many():
    with pytest.raises(BadData, match="there are 1 heads and 0 words"):
        Example("a", heads=(-1,))
    with pytest.raises(BadData, match="relations needs one value for each word; it has 1, for 2 words"):
        Example("a b", words=("a", "b"), heads=(-1, 0), relations=("root",))


def test_trees_count_in_the_checksum():
    made = [Example("a b", words=("a", "b"), heads=heads) for heads in (None, (-1, 0), (1, -1))]
    assert len({Corpus("c", {"test": (example,)}).checksum for example in made}) == 3
