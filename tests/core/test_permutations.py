"""Shuffling some rows at a time: as all rows at once, and a part of a batch as in the whole batch."""

import numpy as np
import pytest
import torch

from whence.core import permutations
from whence.core.permutations import random_orders, shuffled

SHAPES = [(3, 4, 7, 9), (3, 1, 7, 9), (3, 4, 1, 9), (3, 1, 1, 9), (2, 3, 3, 3)]


def case(drawn, masked):
    """Weights, and free keys: all, the same for all rows of a text, or each row's own."""
    generator = torch.Generator().manual_seed(0)
    batch, n_head, n_query, n_key = drawn[0], max(drawn[1], 3), max(drawn[2], 3), drawn[3]
    weights = torch.rand(batch, n_head, n_query, n_key, generator=generator).softmax(-1)
    shape = (batch, n_head, n_query, n_key) if masked == "rows" else (batch, 1, 1, n_key)
    free = torch.rand(shape, generator=generator) > (0.3 if masked else -1.0)
    return weights, free


def seeded():
    return torch.Generator().manual_seed(1)


@pytest.mark.parametrize("masked", ["", "texts", "rows"])
@pytest.mark.parametrize("drawn", SHAPES)
def test_in_parts_as_at_once_and_as_the_orders_say(drawn, masked, monkeypatch):
    weights, free = case(drawn, masked)
    at_once = shuffled(weights, free, drawn, seeded())
    monkeypatch.setattr(permutations, "PART", 1)
    assert torch.equal(shuffled(weights, free, drawn, seeded()), at_once)
    orders = random_orders(drawn, free, seeded()).expand_as(weights)
    every = free.expand_as(weights)
    for row in np.ndindex(*weights.shape[:3]):  # the i-th free key has the weight of the i-th key that is listed
        mine = every[row].nonzero().flatten().tolist()
        expected = weights[row].clone()
        for key, taken in zip(mine, [k for k in orders[row].tolist() if k in mine], strict=True):
            expected[key] = weights[row][taken]
        assert torch.equal(at_once[row], expected)


@pytest.mark.parametrize("drawn", SHAPES)
@pytest.mark.parametrize("part", [1, 2**21])
def test_the_rest_of_a_batch_is_shuffled_as_in_the_whole(drawn, part, monkeypatch):
    monkeypatch.setattr(permutations, "PART", part)
    weights, free = case(drawn, "texts")
    whole = shuffled(weights, free, drawn, seeded())
    for first in range(1, len(weights)):
        rest = shuffled(weights[first:], free[first:], (len(weights) - first, *drawn[1:]), seeded(), before=first)
        assert torch.equal(rest, whole[first:])
        if drawn[-1] > 3:  # of three keys an order may come again by chance
            other = shuffled(weights[first:], free[first:], (len(rest), *drawn[1:]), seeded())
            assert not torch.equal(rest, other)
