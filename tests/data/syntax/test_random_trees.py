"""Random trees against exhaustive counts: every tree of up to five words, with its exact probability."""

from collections import Counter, defaultdict
from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import chisquare

from whence.core.errors import BadConfig
from whence.data.registry import load
from whence.data.syntax import random_trees
from whence.data.syntax.trees import arc_lengths, children, depths, heads_before, is_tree, share_before


def all_trees(n):
    return [heads for heads in product(range(-1, n), repeat=n) if is_tree(heads)]


def outcomes(waiting, stack, heads, chance):
    """All that a random arc-standard parser can do from here, with its probability."""
    actions = ["shift"] * bool(waiting) + ["left", "right"] * (len(stack) > 1)
    if not actions:
        yield heads, chance
    for action in actions:
        share = chance / len(actions)
        if action == "shift":
            yield from outcomes(waiting[1:], (*stack, waiting[0]), heads, share)
        else:
            *rest, second, first = stack
            word, head = (second, first) if action == "left" else (first, second)
            yield from outcomes(waiting, (*rest, head), heads | {word: head}, share)


def exact_arc_standard(n):
    """The probability of every tree: over all orders of the words and all actions."""
    chances: defaultdict[tuple[int, ...], float] = defaultdict(float)
    orders = list(permutations(range(n)))
    for order in orders:
        for heads, chance in outcomes(order, (), {}, 1 / len(orders)):
            chances[tuple(heads.get(word, -1) for word in range(n))] += chance
    return chances


def drawn(draw, heads, times, seed=0):
    rng = np.random.default_rng(seed)
    return Counter(draw(heads, rng) for _ in range(times))


def p_value(counts, chances):
    trees = list(chances)
    assert set(counts) <= set(trees)
    expected = np.array([chances[tree] for tree in trees])
    return chisquare([counts[tree] for tree in trees], expected / expected.sum() * counts.total()).pvalue


@pytest.mark.parametrize(("n", "times"), [(2, 500), (3, 2000), (4, 5000), (5, 6000)])
def test_the_random_parser_has_its_exact_probabilities(n, times):
    assert p_value(drawn(random_trees.arc_standard, [-1] * n, times), exact_arc_standard(n)) > 0.001


def test_the_random_parser_is_not_uniform_by_the_known_amounts():
    for n, low, high in ((3, 3 / 4, 3 / 2), (4, 14 / 27, 28 / 9)):
        chances = exact_arc_standard(n)
        assert len(chances) == n ** (n - 1)
        ratios = [chance * n ** (n - 1) for chance in chances.values()]
        assert (min(ratios), max(ratios)) == pytest.approx((low, high))
    assert p_value(drawn(random_trees.arc_standard, [-1] * 3, 2000), dict.fromkeys(all_trees(3), 1.0)) < 1e-6


@pytest.mark.parametrize(("n", "times"), [(1, 5), (2, 500), (3, 2000), (4, 5000), (5, 6000)])
def test_uniform_trees_are_equally_likely(n, times):
    counts = drawn(random_trees.uniform, [-1] * n, times)
    assert len(all_trees(n)) == n ** (n - 1)
    assert n == 1 or p_value(counts, dict.fromkeys(all_trees(n), 1.0)) > 0.001


@pytest.mark.parametrize("before", range(4))
def test_trees_with_as_many_heads_before_are_equally_likely(before):
    alike = [heads for heads in all_trees(4) if heads_before(heads).sum() == before]
    counts = drawn(random_trees.alike_in_direction, alike[0], 3000)
    assert p_value(counts, dict.fromkeys(alike, 1.0)) > 0.001


def test_shapes_and_directions_of_fourteen_words():
    """Varano 2019, §5.1: 49.80 % of heads come first; DETAILS §1.2: mean depth and largest degree by other code."""
    rng, heads = np.random.default_rng(0), [-1] * 14
    for draw, depth, degree in ((random_trees.arc_standard, 2.83, 3.94), (random_trees.uniform, 3.38, 2.85)):
        trees = [draw(heads, rng) for _ in range(1500)]
        assert share_before(trees) == pytest.approx(0.5, abs=0.015)
        assert np.mean([depths(tree).mean() for tree in trees]) == pytest.approx(depth, abs=0.1)
        assert np.mean([max(map(len, children(tree))) for tree in trees]) == pytest.approx(degree, abs=0.1)


def test_lengths_are_kept_nearly_always():
    rng, kept, arcs = np.random.default_rng(0), 0, 0
    for example in load("clauses", sizes={"test": 150})["test"]:
        tree = random_trees.alike_in_lengths(example.heads, rng)
        assert is_tree(tree)
        both: Counter[int] = Counter(arc_lengths(example.heads).tolist()) & Counter(arc_lengths(tree).tolist())
        kept, arcs = kept + both.total(), arcs + len(tree) - 1
    assert kept / arcs > 0.99


def test_a_length_that_finds_no_place_gives_way_to_the_nearest():
    tree = random_trees.alike_in_lengths((2, 2, 3, -1), np.random.default_rng(0))  # 2 1 1: 0-2, then two of length 1
    assert sorted(arc_lengths(tree)) == [1, 1, 2]
    star = (4, 4, 4, 4, -1)  # lengths 4 3 2 1
    assert all(is_tree(random_trees.alike_in_lengths(star, np.random.default_rng(seed))) for seed in range(20))


def test_a_chain_leads_to_the_true_root():
    assert random_trees.chain((2, 2, -1, 2, 2), np.random.default_rng(0)) == (1, 2, -1, 2, 3)


def test_trees_of_other_sentences():
    trees = [(-1, 0), (1, -1), (-1,), (-1, 0, 1)]
    drawn_trees = random_trees.baseline("others", trees, np.random.default_rng(0))
    assert drawn_trees == [(1, -1), (-1, 0), None, None]
    three = [(-1, 0, 0), (1, -1, 1), (2, 2, -1)]
    often = Counter(random_trees.of_others(three, np.random.default_rng(seed))[1] for seed in range(300))
    assert set(often) == {three[0], three[2]}
    assert min(often.values()) > 100


@pytest.mark.parametrize("name", random_trees.BASELINES)
def test_every_baseline_gives_trees_and_the_same_for_the_same_seed(name):
    trees = [example.heads for example in load("clauses", sizes={"test": 30})["test"]] + [(-1,), (1, -1)]
    one, again = (random_trees.baseline(name, trees, np.random.default_rng(3)) for _ in range(2))
    assert one == again
    for heads, tree in zip(trees, one, strict=True):
        assert tree is None or (is_tree(tree) and len(tree) == len(heads))
        assert name != "direction" or heads_before(tree).sum() == heads_before(heads).sum()
    assert name in ("others", "chain") or None not in one
    assert name == "chain" or one != random_trees.baseline(name, trees, np.random.default_rng(4))


def test_an_unknown_baseline_is_said():
    with pytest.raises(BadConfig, match="no baseline 'wilson'; choose from: arc_standard, uniform, lengths"):
        random_trees.baseline("wilson", [(-1,)], np.random.default_rng(0))
