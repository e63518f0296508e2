"""Random draws of the data room: a generator from a seed and a name, without torch."""

import zlib
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")


def draws(seed: int, name: str) -> np.random.Generator:
    """A generator for one purpose: the same seed and name give the same numbers, other names independent ones."""
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def pick(rng: np.random.Generator, items: Sequence[Item]) -> Item:
    """One of the items, all equally likely (much faster than `rng.choice`, which makes an array first)."""
    return items[int(rng.integers(len(items)))]
