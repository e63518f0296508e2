"""From subwords to words: attention *to* a word is the sum over its subwords, attention *from* it their mean.

(Clark et al. 2019, §4.1.) The functions take numpy arrays and torch tensors alike.
"""

from typing import TypeVar

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

Array = TypeVar("Array")


def membership(word: Int[ndarray, "*batch subword"], n_words: int) -> Float[ndarray, "*batch subword word"]:
    """Which subword belongs to which word, 1 or 0; a subword of no word (-1: special tokens, padding) has zeros."""
    return np.asarray(word[..., None] == np.arange(n_words), float)


def to_words(weights: Array, pieces: Array, *, renormalise: bool = False) -> Array:
    """Weights `[*batch head subword subword]` as weights `[*batch head word word]`, by `membership` `[*batch subword
    word]`.

    Both must be of one kind, array or tensor, and of one dtype. Weight on subwords of no word is lost, so that rows
    sum to less than one; `renormalise` shares it out over the words. A word of which no piece is left (the text was
    cut) has zeros.
    """
    words = across(weights, pieces, pieces)
    if not renormalise:
        return words
    sums = words.sum(-1)[..., None]  # type: ignore[attr-defined]
    return words / (sums + (sums == 0))


def across(weights: Array, query_subwords: Array, key_subwords: Array) -> Array:
    """Weights `[*batch head subword subword]` from one text to another as weights `[*batch head word word]`."""
    asking, asked = query_subwords[..., None, :, :], key_subwords[..., None, :, :]  # type: ignore[index]  # [*batch 1 subword word]
    sizes = asking.sum(-2).clip(1)[..., None]  # [*batch 1 word 1]
    return asking.swapaxes(-1, -2) @ weights @ asked / sizes  # [*batch head word word]
