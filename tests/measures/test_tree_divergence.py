"""Divergence and attachment against scipy and a slow loop over sentences, heads and tokens."""

import inspect
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import entropy

from whence.measures.tree_divergence import attached, best_offset, by_sentence, offset_attached, tree_divergence

N, HEADS = 6, 3
TREES = [(1, -1, 1, 4, 2, 1), (-1, 0, 1, 2), (2, 2, -1, 2, 6 - 1, 2)]
BOTH = ("zero", "skip", "floor")


def batch(kind, seed=0):
    """References, weights and mask of three sentences, the second padded; `kind` says who may see whom."""
    rng = np.random.default_rng(seed)
    heads = np.full((len(TREES), N), -1)
    allowed = np.zeros((len(TREES), N, N), bool)
    for row, tree in enumerate(TREES):
        heads[row, : len(tree)] = tree
        allowed[row, : len(tree), : len(tree)] = True
    places = np.arange(N)
    allowed &= {"all": True, "past": places < places[:, None], "future": places > places[:, None]}[kind]
    weights = rng.random((len(TREES), HEADS, N, N)) * allowed[:, None]
    sums = weights.sum(-1, keepdims=True)
    return heads, np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0), allowed


def references(heads, kind, seed=1):
    """One-hot on the parent, or anything at all."""
    rows = np.zeros((*heads.shape, N))
    for row, tree in enumerate(TREES):
        for word, head in enumerate(tree):
            if head >= 0 and kind == "parent":
                rows[row, word, head] = 1.0
    if kind == "any":
        rng = np.random.default_rng(seed)
        rows = np.asarray(rng.random(rows.shape) * (rng.random(rows.shape) < 0.5))
        for row, tree in enumerate(TREES):
            rows[row, len(tree) :] = rows[row, :, len(tree) :] = 0
        rows = np.divide(rows, rows.sum(-1, keepdims=True), out=rows, where=rows.sum(-1, keepdims=True) > 0)
    return rows


def slow(p, q, may, masked, floor):
    """The divergence of one token, term by term."""
    if not p.any():
        return math.nan
    if masked == "skip":
        kept = sum(p[k] for k in range(len(p)) if may[k])
        if kept == 0:
            return math.nan
        p = [p[k] / kept if may[k] else 0.0 for k in range(len(p))]
    total = 0.0
    for k in range(len(p)):
        if p[k] > 0 and masked == "floor":
            total += p[k] * math.log(p[k] / max(q[k] if may[k] else 0.0, floor))
        elif p[k] > 0 and may[k]:
            total += p[k] * math.log(p[k] / q[k])
    return total


@pytest.mark.parametrize("masked", BOTH)
@pytest.mark.parametrize("reference", ["parent", "any"])
@pytest.mark.parametrize("mask", ["all", "past", "future"])
def test_divergence_is_that_of_a_slow_loop(mask, reference, masked):
    heads, weights, allowed = batch(mask)
    p = references(heads, reference)
    found = tree_divergence(p, weights, allowed, masked=masked, floor=1e-3)
    for row in range(len(TREES)):
        for query in range(N):
            for head in range(HEADS):
                expected = slow(p[row, query], weights[row, head, query], allowed[row, query], masked, 1e-3)
                assert found.values[row, head, query] == pytest.approx(expected, nan_ok=True)
            total = p[row, query].sum()
            covered = (p[row, query] * allowed[row, query]).sum() / total if total else math.nan
            assert found.coverage[row, query] == pytest.approx(covered, nan_ok=True)


@pytest.mark.parametrize("reference", ["parent", "any"])
def test_divergence_is_that_of_scipy_where_nothing_is_masked(reference):
    heads, weights, allowed = batch("all")
    p = references(heads, reference)
    there = p.sum(-1) > 0
    expected = entropy(p[:, None], weights, axis=-1).transpose(0, 2, 1)[there]
    for masked in BOTH:
        found = tree_divergence(p, weights, allowed, masked=masked, floor=1e-12).values.transpose(0, 2, 1)
        assert_allclose(found[there], expected)
        assert np.isnan(found[~there]).all()
    assert_allclose(tree_divergence(p, weights).values.transpose(0, 2, 1)[there], expected)


def test_conventions_by_hand():
    """Three words that see what is before them: the parent of 1 is 0, with weight 1; that of 0 is masked."""
    p = np.zeros((1, 3, 3))
    p[0, 1, 0] = p[0, 0, 2] = 1
    weights = np.array([[[[0, 0, 0], [1, 0, 0], [0.25, 0.75, 0]]]], np.float32)
    allowed = np.tri(3, k=-1, dtype=bool)[None]
    values = {how: tree_divergence(p, weights, allowed, masked=how, floor=0.01).values[0, 0] for how in BOTH}
    assert_allclose(values["zero"], [0, 0, np.nan])
    assert_allclose(values["skip"], [np.nan, 0, np.nan])
    assert_allclose(values["floor"], [-math.log(0.01), 0, np.nan])
    assert_allclose(by_sentence(values["floor"][None, None]), [[-math.log(0.01) / 2]])
    assert_allclose(by_sentence(np.full((1, 1, 3), np.nan)), [[np.nan]])


def test_a_weight_that_has_sunk_to_zero_stays_finite():
    p, weights = np.array([[[0.0, 1.0], [0.0, 0.0]]]), np.array([[[[1.0, 0.0], [0.5, 0.5]]]])
    assert tree_divergence(p, weights).values[0, 0, 0] == pytest.approx(87.34, abs=0.01)


def test_nothing_to_measure_and_an_unknown_convention():
    empty = tree_divergence(np.zeros((2, 3, 3)), np.ones((2, 1, 3, 3)))
    assert np.isnan(empty.values).all()
    assert np.isnan(empty.coverage).all()
    with pytest.raises(ValueError, match="zero, skip or floor; 'none'"):
        inspect.unwrap(tree_divergence)(np.zeros((1, 1, 1)), np.ones((1, 1, 1, 1)), masked="none")


@pytest.mark.parametrize("masked", ["zero", "skip"])
@pytest.mark.parametrize("mask", ["all", "past", "future"])
def test_attachment_is_that_of_a_slow_loop(mask, masked):
    heads, weights, allowed = batch(mask, seed=5)
    found = attached(heads, weights, allowed, masked=masked)
    for row, tree in enumerate(TREES):
        for query in range(N):
            for head in range(HEADS):
                parent = tree[query] if query < len(tree) else -1
                options = [k for k in range(N) if allowed[row, query, k] and k != query]
                expected = math.nan
                if parent in options:
                    expected = float(max(options, key=lambda k: weights[row, head, query, k]) == parent)
                elif parent >= 0 and masked == "zero":
                    expected = 0.0
                assert found[row, head, query] == pytest.approx(expected, nan_ok=True)


def test_a_head_that_follows_the_tree_is_always_right_both_ways():
    heads, _, allowed = batch("all")
    p = references(heads, "parent")[:, None]
    assert np.nanmin(attached(heads, p, allowed)) == 1
    assert np.nanmin(attached(heads, p)) == 1
    to_children = p.swapaxes(-1, -2) / np.maximum(p.sum(-2), 1)[..., None]
    assert np.nanmean(attached(heads, to_children)) < 1
    assert np.nanmin(attached(heads, to_children.swapaxes(-1, -2))) == 1


def test_offsets_by_hand():
    heads = np.array([[1, -1, 1, 4, 2], [-1, 0, -1, -1, -1]])
    assert_allclose(np.nanmean(offset_attached(heads, (-2, -1, 1)), axis=(0, 2)), [1 / 5, 2 / 5, 2 / 5])
    assert best_offset(heads) == (-1, 2 / 5)
    assert best_offset(np.array([[1, 2, -1]])) == (1, 1.0)
