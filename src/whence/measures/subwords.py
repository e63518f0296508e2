"""From word pieces to words: attention *to* a word is the sum over its pieces, attention *from* it their mean.

(Clark et al. 2019, §4.1.) The functions take numpy arrays and torch tensors alike.
"""

from typing import TypeVar

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

Array = TypeVar("Array")


def membership(word: Int[ndarray, "*batch piece"], n_words: int) -> Float[ndarray, "*batch piece word"]:
    """Which piece belongs to which word, 1 or 0; a piece of no word (-1: special tokens, padding) has zeros."""
    return np.asarray(word[..., None] == np.arange(n_words), float)


def to_words(weights: Array, pieces: Array, *, renormalise: bool = False) -> Array:
    """Weights `[*batch head piece piece]` as weights `[*batch head word word]`, by `membership` `[*batch piece word]`.

    Both must be of one kind, array or tensor, and of one dtype. What goes to pieces of no word is lost, so that rows
    sum to less than one; `renormalise` shares it out over the words. A word of which no piece is left (the text was
    cut) has zeros.
    """
    words = across(weights, pieces, pieces)
    if not renormalise:
        return words
    sums = words.sum(-1)[..., None]  # type: ignore[attr-defined]
    return words / (sums + (sums == 0))


def across(weights: Array, query_pieces: Array, key_pieces: Array) -> Array:
    """Weights `[*batch head piece piece]` from one text to another as weights `[*batch head word word]`."""
    asking, asked = query_pieces[..., None, :, :], key_pieces[..., None, :, :]  # type: ignore[index]  # [*batch 1 piece word]
    sizes = asking.sum(-2).clip(1)[..., None]  # [*batch 1 word 1]
    return asking.swapaxes(-1, -2) @ weights @ asked / sizes  # [*batch head word word]
