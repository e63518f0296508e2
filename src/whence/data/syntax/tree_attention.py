"""What attention would be if it followed a tree: heads -> for every word a distribution over the words.

A row is all zeros where the tree says nothing about a word: then nothing is measured there. Any function from heads to
rows can stand in the list below.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from whence.data.syntax.trees import ROOT, Heads, distances

Rows = Float[ndarray, "word word"]


def parent(heads: Heads) -> Rows:
    """Every word attends to its head alone; the root to nothing (Varano 2019, §3.2, "our method")."""
    rows = np.zeros((len(heads), len(heads)))
    for word, head in enumerate(heads):
        if head != ROOT:
            rows[word, head] = 1.0
    return rows


def children(heads: Heads) -> Rows:
    """Every word attends equally to those that hang on it; leaves to nothing (Varano 2019, §3.2, "overview")."""
    return shared(parent(heads).T)


def neighbours(heads: Heads) -> Rows:
    """Every word attends equally to its head and to those that hang on it."""
    return shared(parent(heads) + parent(heads).T)


def nearness(heads: Heads) -> Rows:
    """Every word attends to the others by their distance in the tree: softmax(−distance), itself left out.

    Varano 2019, §6, proposes distances as future work and says no more. A word is left out of its own row since DiSAN
    does not let it attend to itself.
    """
    rows = np.exp(-distances(heads).astype(float))
    np.fill_diagonal(rows, 0.0)
    return shared(rows)


def shared(rows: Rows) -> Rows:
    """Rows that sum to one, where there is anything to share."""
    sums = rows.sum(-1, keepdims=True)
    return np.divide(rows, sums, out=np.zeros_like(rows), where=sums > 0)


REFERENCES: dict[str, Callable[[Heads], Rows]] = {
    "parent": parent,
    "children": children,
    "neighbours": neighbours,
    "nearness": nearness,
}
