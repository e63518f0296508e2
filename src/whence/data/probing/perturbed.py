"""The probing tasks with a changed sentence: two words swapped, a word replaced, two clauses swapped. See `probing`.

Each sentence is there once, unchanged or perturbed, by a coin; only sentences that can be perturbed are used.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from whence.data.examples import Example
from whence.data.probing.tasks import Item, Reader, Rng, features_of, heads_of, relations_of, root_of, words_of
from whence.data.rng import pick
from whence.data.syntax.trees import children

ORIGINAL, INVERTED, CHANGED = "original", "inverted", "changed"
FIXED = ("PUNCT", "SYM")  # parts of speech that are not moved
OPEN = ("NOUN", "VERB")
SUBJECTS = {"nsubj", "csubj", "expl"}


def bigram_shift(known: Sequence[Example]) -> Reader:
    """Whether two neighbouring words were swapped."""

    def read(e: Example, rng: Rng) -> Item | None:
        words = words_of(e)
        fixed = [is_fixed(e, word) for word in range(len(words))]
        places = [
            i
            for i in range(1, len(words) - 1)
            if not fixed[i] and not fixed[i + 1] and words[i].lower() != words[i + 1].lower()
        ]
        if not places:
            return None
        at, swapped = pick(rng, places), rng.random() < 0.5
        new = (*words[:at], words[at + 1], words[at], *words[at + 2 :])
        return Item(in_words(new), INVERTED) if swapped else Item(in_words(words), ORIGINAL)

    return read


def is_fixed(e: Example, word: int) -> bool:
    """Whether a word is punctuation or a symbol; where parts of speech are not known, by its relation."""
    upos = features_of(e, word).get("UPOS")
    return relations_of(e)[word] == "punct" if upos is None else upos in FIXED


def odd_man_out(known: Sequence[Example]) -> Reader:
    """Whether a noun or verb was replaced by another of the same form that is about as frequent."""
    counts = Counter(word for e in known for word in words_of(e))
    alike: dict[tuple[str, int], set[str]] = defaultdict(set)
    for e in known:
        for place, word in enumerate(words_of(e)):
            if replaceable(e, place):
                alike[kind(e, place, counts)].add(word)
    others = {one: sorted(words) for one, words in alike.items()}

    def read(e: Example, rng: Rng) -> Item | None:
        words = words_of(e)
        choice = {
            place: [other for other in others.get(kind(e, place, counts), ()) if other != words[place]]
            for place in range(len(words))
            if replaceable(e, place)
        }
        places = [place for place, there in choice.items() if there]
        if not places:
            return None
        at = pick(rng, places)
        other, changed = pick(rng, choice[at]), rng.random() < 0.5
        new = (*words[:at], other, *words[at + 1 :])
        return Item(in_words(new), CHANGED, other) if changed else Item(in_words(words), ORIGINAL)

    return read


def replaceable(e: Example, place: int) -> bool:
    """Whether a word is a noun or verb in small letters."""
    word = words_of(e)[place]
    return word.isalpha() and word.islower() and features_of(e, place).get("UPOS") in OPEN


def kind(e: Example, place: int, counts: Counter[str]) -> tuple[str, int]:
    """What a word and its replacement have in common: morphology, and the power of two of their frequency."""
    assert e.features is not None
    return e.features[place], int(math.log2(max(counts[words_of(e)[place]], 1)))


def coordination_inversion(known: Sequence[Example]) -> Reader:
    """Whether the two clauses of a sentence were swapped."""

    def read(e: Example, rng: Rng) -> Item | None:
        clauses = two_clauses(e)
        if clauses is None:
            return None
        longer = clauses.first - (clauses.second - clauses.link)
        swapped = rng.random() < 0.5
        like = str(np.sign(-longer if swapped else longer))
        return Item(
            clauses.inverted(e) if swapped else in_words(words_of(e)), INVERTED if swapped else ORIGINAL, like=like
        )

    return read


class Clauses(NamedTuple):
    """Where the parts of a sentence end: the first clause, what links it (`, and`) to the second, and the second."""

    first: int
    link: int
    second: int

    def inverted(self, e: Example) -> Example:
        """The second clause, the link, the first clause, and what ends the sentence."""
        words = words_of(e)
        opening = words[0]
        named = features_of(e, 0).get("UPOS") == "PROPN" or opening == "I" or opening[1:] != opening[1:].lower()
        first = (opening if named else opening[:1].lower() + opening[1:], *words[1 : self.first])
        second, link = words[self.link : self.second], words[self.first : self.link]
        return in_words((second[0][:1].upper() + second[0][1:], *second[1:], *link, *first, *words[self.second :]))


def two_clauses(e: Example) -> Clauses | None:
    """The parts of a sentence of two coordinated clauses, each with a subject; None if it is not one.

    The second is the root's one conjunct with all that hangs on it, the last but punctuation, and there is no other
    coordination.
    """
    relations, below, root = relations_of(e), children(heads_of(e)), root_of(e)
    joined = [word for word in below[root] if relations[word] == "conj"]
    if len(joined) != 1 or relations.count("cc") != 1 or relations.count("conj") != 1:
        return None
    verb = joined[0]
    if not all(SUBJECTS & {relations[word] for word in below[one]} for one in (root, verb)):
        return None
    whole = sorted(hanging(below, verb))
    begin, end = whole[0], whole[-1] + 1
    apart = whole == list(range(begin, end)) and root < begin
    while relations[end - 1] == "punct":  # what ends the sentence is no part of the clause
        end -= 1
    links = {word for word in below[verb] if relations[word] in ("cc", "punct")}
    link = next((word for word in whole if word not in links), begin)
    closed = all(relations[word] == "punct" for word in range(end, len(relations)))
    while begin > root + 1 and relations[begin - 1] == "punct":  # a comma that hangs on the root
        begin -= 1
    linked = any(relations[word] == "cc" for word in range(begin, link))
    return Clauses(begin, link, end) if closed and linked and apart and link < end else None


def hanging(below: list[list[int]], word: int) -> set[int]:
    """A word and all that hangs on it."""
    return {word}.union(*(hanging(below, one) for one in below[word]))


def in_words(words: Sequence[str]) -> Example:
    """A sentence without its tree, which may not be its own any more."""
    return Example(" ".join(words), words=tuple(words))
