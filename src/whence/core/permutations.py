"""Weights shuffled along their rows, some rows at a time: the orders of all rows take several times their room."""

from collections.abc import Iterator

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

LAST = 1 << 31
PART = 2**21  # keys whose order is drawn at a time

Weights = Float[Tensor, "batch head query key"]
Free = Bool[Tensor, " batch #head #query key"]
Drawn = tuple[int, int, int, int]


def shuffled(weights: Weights, free: Free, drawn: Drawn, generator: torch.Generator, before: int = 0) -> Weights:
    """Each row's weights among its free keys in a random order; the others keep theirs.

    `drawn` is the shape of the draws: rows along an axis of one share an order, each restricted to its own free keys.
    `before` says how many texts come before these in a larger batch, to be shuffled as they are there.
    """
    if drawn[:3] != weights.shape[:3]:  # shared orders take little room
        return _reordered(weights, free, random_orders(drawn, free, generator, before))
    numbers = _random(drawn, generator, before)
    rows = free.expand(-1, *weights.shape[1:3], -1)  # [batch head query key], a view
    texts = []
    for text in range(len(weights)):
        heads = [
            _reordered(weights[[text], some], rows[[text], some], _orders(rows[[text], some], numbers))
            for some in _parts(drawn)
        ]
        texts.append(heads[0] if len(heads) == 1 else torch.cat(heads, dim=1))
    return texts[0] if len(texts) == 1 else torch.cat(texts)


def _parts(drawn: Drawn) -> Iterator[slice]:
    """Some heads of a text at a time, one at least."""
    some = max(1, PART // max(1, drawn[2] * drawn[3]))
    return (slice(first, first + some) for first in range(0, drawn[1], some))


def random_orders(
    drawn: Drawn, free: Free, generator: torch.Generator, before: int = 0
) -> Int[Tensor, "batch _head _query key"]:
    """For each row its free keys in a random order, then its other keys in their own.

    Each row of 32-bit numbers is sorted by value: the upper bits are random, the lowest say which key it was, and the
    uppermost puts bound keys last. That is several times as fast as an argsort of random draws. Two keys come to a tie,
    decided by their place, once in 2^(31 - bits of the key count) pairs: once in 16 million at 128 keys.
    """
    return _orders(free, _random(drawn, generator, before), drawn)


def _random(drawn: Drawn, generator: torch.Generator, before: int) -> np.random.Generator:
    """The numbers of one call, from the first that belongs to these texts."""
    seed = int(torch.randint(2**62, (), generator=generator, device=generator.device))
    random = np.random.PCG64(seed)
    skipped = before * drawn[1] * drawn[2] * drawn[3]
    random.advance(skipped // 2)  # each step gives two numbers of 32 bits
    numbers = np.random.Generator(random)
    if skipped % 2:
        numbers.integers(0, 1 << 31, dtype=np.uint32)
    return numbers


def _orders(
    free: Free, random: np.random.Generator, drawn: Drawn | None = None
) -> Int[Tensor, "batch _head _query key"]:
    """The next orders of some rows."""
    shape = tuple(free.shape) if drawn is None else drawn
    n_key = shape[-1]
    key_bits = max(1, (n_key - 1).bit_length())
    places = np.arange(n_key, dtype=np.uint32)
    numbers = random.integers(0, 1 << (31 - key_bits), shape, dtype=np.uint32)
    numbers <<= np.uint32(key_bits)
    numbers |= places
    if not bool(free.all()):
        numbers = np.where(free.cpu().numpy(), numbers, places | np.uint32(LAST))
    numbers.sort(axis=-1)
    numbers &= np.uint32((1 << key_bits) - 1)
    return torch.from_numpy(numbers.astype(np.int64)).to(free.device)


def _reordered(weights: Weights, free: Free, orders: Int[Tensor, " batch #head #query key"]) -> Weights:
    """Put the weights of a row's free keys in another order.

    An order lists the free keys first, then the bound. The i-th free key gets the weight of the i-th key listed; a
    bound key, listed in its own place among the bound, gets its own.
    """
    if not bool(free.all()):
        nth_free = free.cumsum(-1)
        nth = torch.where(free, nth_free, nth_free[..., -1:] + (~free).cumsum(-1)) - 1
        orders = orders.gather(-1, nth.expand(torch.broadcast_shapes(nth.shape, orders.shape)))
    return weights.gather(-1, orders.expand_as(weights))
