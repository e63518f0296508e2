"""Trees without syntax, as baselines for the true ones: how near attention is to any tree at all.

Each function takes a true tree and gives another of as many words; what is random is drawn from the generator. Some
share a property with the true one: the lengths of its arcs, or how many heads come before their words.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from whence.core.errors import BadConfig
from whence.data.syntax.trees import ROOT, Heads, arc_lengths, heads_before, ring

Tree = tuple[int, ...]
Draw = Callable[[Heads, np.random.Generator], Tree]


def arc_standard(heads: Heads, rng: np.random.Generator) -> Tree:
    """The tree of a random arc-standard parser (Varano 2019, §3.3): words shuffled, each legal action equally likely.

    Shift is legal while words are waiting, left-arc and right-arc while two words are on the stack; the last word left
    is the root. *Differs from what the paper hoped*: not all trees are equally likely; flat ones are more so (of four
    words, a tree may be up to 28/9 times as likely as it should be, or only 14/27 times).
    """
    waiting = rng.permutation(len(heads)).tolist()
    stack: list[int] = []
    tree = [ROOT] * len(heads)
    while waiting or len(stack) > 1:
        legal = ["shift"] * bool(waiting) + ["left", "right"] * (len(stack) > 1)
        action = legal[int(rng.integers(len(legal)))]
        if action == "shift":
            stack.append(waiting.pop())
        else:
            top, below = stack.pop(), stack.pop()
            word, head = (below, top) if action == "left" else (top, below)
            tree[word] = head
            stack.append(head)
    return tuple(tree)


def uniform(heads: Heads, rng: np.random.Generator) -> Tree:
    """Any tree, all n^(n−1) equally likely: a random Prüfer sequence, and a random word as its root."""
    n = len(heads)
    sequence = rng.integers(n, size=max(n - 2, 0)).tolist()
    left = np.bincount(sequence, minlength=n).tolist()  # how often each word is still to come
    free, edges = set(range(n)), list[tuple[int, int]]()
    for word in sequence:
        leaf = min(w for w in free if not left[w])
        edges.append((leaf, word))
        free.remove(leaf)
        left[word] -= 1
    edges += [tuple(free)] if n > 1 else []  # type: ignore[list-item]
    return rooted(n, edges, int(rng.integers(n)))


def alike_in_lengths(heads: Heads, rng: np.random.Generator) -> Tree:
    """A tree whose arcs are as long as the true one's, as far as that can be, with a random word as its root.

    The lengths are placed in turn, the longest first, each between two words drawn from all pairs that are so
    far apart and not yet connected; where there is no such pair, the nearest length that has one is taken. Arcs of
    length 1 can always be placed. Not all such trees are equally likely.
    """
    n = len(heads)
    part = np.arange(n)  # words that are connected have the same number
    edges = []
    for length in sorted(arc_lengths(heads).tolist(), reverse=True):
        for tried in sorted(range(1, n), key=lambda other: (abs(other - length), other)):
            starts = np.flatnonzero(part[: n - tried] != part[tried:])
            if len(starts):
                start = int(starts[rng.integers(len(starts))])
                edges.append((start, start + tried))
                part[part == part[start + tried]] = part[start]
                break
    return rooted(n, edges, int(rng.integers(n)))


def alike_in_direction(heads: Heads, rng: np.random.Generator) -> Tree:
    """A tree with as many heads before their words as the true one; all such trees are equally likely.

    Every word draws its head, or that it is the root, so that the number comes out and all ways are equally likely
    (each word in turn, by the number of ways that are left for the words after it). All draw again until it is a tree.
    """
    n, wanted = len(heads), int(heads_before(heads).sum())
    ways = completions(n, wanted).tolist()
    while True:
        tree = drawn_heads(n, wanted, ways, rng.random((n, 2)).tolist())
        if ring(tree) is None:
            return tuple(tree)


def drawn_heads(n: int, before: int, ways: list[list[list[float]]], draws: list[list[float]]) -> list[int]:
    """A head for every word, of which so many come before and one is the root; perhaps no tree."""
    tree, roots = [], 1
    for word, (which, where) in enumerate(draws):
        after = ways[word + 1]
        first = word * after[before - 1][roots] if before else 0.0
        second = (n - 1 - word) * after[before][roots]
        point = which * (first + second + (after[before][0] if roots else 0.0))
        if point < first:
            tree.append(int(where * word))
            before -= 1
        elif point < first + second:
            tree.append(word + 1 + int(where * (n - 1 - word)))
        else:
            tree.append(ROOT)
            roots -= 1
    return tree


def completions(n: int, before: int) -> np.ndarray:
    """In how many ways words from each place on can draw heads, so that so many come before and so many are roots.

    `[place, before, roots]`, each place in a scale of its own so that no number grows too large.
    """
    ways = np.zeros((n + 1, before + 1, 2))
    ways[n, 0, 0] = 1.0
    for word in reversed(range(n)):
        after = ways[word + 1]
        ways[word] = (n - 1 - word) * after
        ways[word, 1:] += word * after[:-1]
        ways[word, :, 1] += after[:, 0]
        ways[word] /= ways[word].max()
    return ways


def chain(heads: Heads, rng: np.random.Generator) -> Tree:
    """Every word hangs on its neighbour on the side of the root, which is the true one; nothing is random."""
    root = list(heads).index(ROOT)
    return tuple(ROOT if word == root else word + (1 if word < root else -1) for word in range(len(heads)))


def rooted(n: int, edges: Sequence[tuple[int, int]], root: int) -> Tree:
    """The heads of a tree of undirected edges with one of its words as the root."""
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for one, other in edges:
        neighbours[one].append(other)
        neighbours[other].append(one)
    tree, order = [ROOT] * n, [root]
    for word in order:  # it grows as it is read
        for other in neighbours[word]:
            if other != tree[word]:
                tree[other] = word
                order.append(other)
    return tuple(tree)


def of_others(trees: Sequence[Heads], rng: np.random.Generator) -> list[Tree | None]:
    """For every sentence the tree of another of as many words; None where there is no other."""
    as_long: dict[int, list[int]] = defaultdict(list)
    places = []
    for number, heads in enumerate(trees):
        places.append(len(as_long[len(heads)]))
        as_long[len(heads)].append(number)
    drawn: list[Tree | None] = []
    for heads, place in zip(trees, places, strict=True):
        alike = as_long[len(heads)]
        other = int(rng.integers(len(alike) - 1)) if len(alike) > 1 else -1
        drawn.append(tuple(trees[alike[other + (other >= place)]]) if other >= 0 else None)
    return drawn


ONE_BY_ONE: dict[str, Draw] = {
    "arc_standard": arc_standard,
    "uniform": uniform,
    "lengths": alike_in_lengths,
    "direction": alike_in_direction,
    "chain": chain,
}
BASELINES = (*ONE_BY_ONE, "others")


def baseline(name: str, trees: Sequence[Heads], rng: np.random.Generator) -> list[Tree | None]:
    """A random tree for every true one, by the name of a baseline; None where there is none (`others` alone)."""
    if name not in BASELINES:
        raise BadConfig(f"no baseline {name!r}; choose from: {', '.join(BASELINES)}")
    if name == "others":
        return of_others(trees, rng)
    return [ONE_BY_ONE[name](heads, rng) for heads in trees]
