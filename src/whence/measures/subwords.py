"""From subwords to words: attention *to* a word is the sum over its subwords, attention *from* it their mean.

(Clark et al. 2019, §4.1.) Subwords are added up one by one, so that the cost is that of the weights themselves: a
product with a matrix of memberships would be cubic in the length of a text.
"""

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

Words = Int[ndarray, "..."]  # [*batch subword], the word of each; -1 of none: special tokens, padding


def to_words(
    weights: Float[ndarray, "*batch head subword subword"], word: Words, n_words: int, *, renormalise: bool = False
) -> Float[ndarray, "*batch head word word"]:
    """Weights between subwords as weights between words.

    Weight on subwords of no word is lost, so that rows sum to less than one; `renormalise` shares it out over the
    words. A word of which no subword is left (the text was cut) has zeros.
    """
    words = across(weights, (word, n_words), (word, n_words))
    if not renormalise:
        return words
    sums = words.sum(-1, keepdims=True)
    return words / (sums + (sums == 0))


def across(
    weights: Float[ndarray, "*batch head query key"], queries: tuple[Words, int], keys: tuple[Words, int]
) -> Float[ndarray, "*batch head target source"]:
    """Weights from one text to another between words; of each text the word of its subwords, and how many words."""
    (asking, n_asking), (asked, n_asked) = queries, keys
    found = np.zeros((*weights.shape[:-2], n_asking, n_asked), weights.dtype)
    for text in np.ndindex(asking.shape[:-1]):
        to = _summed(weights[text], asked[text], n_asked, -1)  # [head subword word]
        sizes = np.bincount(asking[text][asking[text] >= 0], minlength=n_asking).clip(1).astype(weights.dtype)
        found[text] = _summed(to, asking[text], n_asking, -2) / sizes[:, None]
    return found


def _summed(values: ndarray, word: Int[ndarray, " subword"], n_words: int, axis: int) -> ndarray:
    """The sums over the subwords of each word along one of the last two axes."""
    order = np.argsort(word, kind="stable")[np.count_nonzero(word < 0) :]
    there, firsts = np.unique(word[order], return_index=True)
    shape = list(values.shape)
    shape[axis] = n_words
    found = np.zeros(shape, values.dtype)
    if len(order):
        place = (..., there) if axis == -1 else (..., there, slice(None))
        found[place] = np.add.reduceat(values.take(order, axis), firsts, axis=axis)
    return found
