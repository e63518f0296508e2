"""Random draws of the data room: a generator from a seed and a name, without torch."""

import zlib
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")


def seeded_rng(seed: int, name: str) -> np.random.Generator:
    """A generator for one purpose: the same seed and name give the same numbers, other names independent ones."""
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def pick(rng: np.random.Generator, items: Sequence[Item]) -> Item:
    """One of the items, all equally likely (much faster than `rng.choice`, which makes an array first)."""
    return items[int(rng.integers(len(items)))]


def hold_out(items: Sequence[Item], share: float, name: str) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    """The items without a share of them, and that share (one at least), drawn with a fixed seed; both stay in order."""
    chosen = set(seeded_rng(0, name).permutation(len(items))[: max(1, round(share * len(items)))].tolist())
    kept = tuple(item for number, item in enumerate(items) if number not in chosen)
    return kept, tuple(item for number, item in enumerate(items) if number in chosen)
