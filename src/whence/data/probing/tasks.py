"""SentEval's ten probing tasks (Conneau et al. 2018, §2), made from any treebank in CoNLL-U instead of from books.

Sentences have 5 to 28 words, as theirs, and classes are drawn evenly. As theirs, the word that tells the label of
`past_present`, `subj_number` and `obj_number`, or is put in for another (`odd_man_out`), is not the same in training
and test, so that words cannot be learned by heart; a sentence is there unchanged or perturbed, not both; and the
clauses of `coordination_inversion` are as often the longer one first as last, whether they were swapped or not.

*Differs from the paper*, which parsed books and drew 120,000 sentences a task; a treebank has trees made by people, and
is small:
- `word_content`: 20 words, not 1,000: the most frequent ones of four letters or more after the hundred most frequent
  words (not 2,000); as many sentences of each as there are, up to its share.
- `tree_depth`: how many arcs the deepest word is below the root of a *dependency* tree, 3 to 6; the paper takes trees
  of constituents, 5 to 12. Every depth is there with the same lengths, so that length tells nothing of it.
- `top_constituents`: there are no constituents. The relations of the root's dependents stand in for them, in their
  order and with the root among them, without punctuation (`nsubj root obj`): the 5 most frequent ones, and others.
- `past_present`: of sentences whose root is itself a finite verb. There and in `subj_number` and `obj_number` words of
  any frequency are taken.
- `odd_man_out`: the other word has the same part of speech and morphology and is itself about as frequent (within a
  factor of two); the paper has the bigrams about as frequent, for which a treebank is too small.
- `coordination_inversion`: the first letters are made large and small again as the new order wants.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from whence.data.examples import Example
from whence.data.syntax.trees import ROOT, children, depths

SHORTEST, LONGEST = 5, 28  # words
LENGTHS = (8, 12, 16, 20, 25, 28)  # the last length of each bin
DEPTHS = range(3, 7)
FREQUENT, CONTENTS, LETTERS = 100, 20, 4  # frequent words that are skipped; words to predict, and their least length
CONSTITUENTS = 5
OTHER = "other"
TENSES = {"Past": "past", "Pres": "present"}
NUMBERS = {"Sing": "singular", "Plur": "plural"}


class Item(NamedTuple):
    """A sentence with the label that a probe is to find. `target` is the word that tells it, in small letters, where it
    is to be another one in the test; `like` is what sentences of different labels must have in common.
    """

    example: Example
    label: str
    target: str = ""
    like: str = ""


Rng = np.random.Generator
Reader = Callable[[Example, Rng], Item | None]  # None: the sentence is not used


def sentence_length(known: Sequence[Example]) -> Reader:
    """The bin of its number of words: 5–8, 9–12, 13–16, 17–20, 21–25, 26–28."""
    names = [f"{low}-{high}" for low, high in zip((SHORTEST, *(end + 1 for end in LENGTHS)), LENGTHS, strict=False)]
    return lambda e, rng: Item(e, names[int(np.searchsorted(LENGTHS, len(words_of(e))))])


def word_content(known: Sequence[Example]) -> Reader:
    """Which one of some words of middle frequency it has, if it has one of them, and once."""
    counts = Counter(word for e in known for word in {word.lower() for word in words_of(e)} if word.isalpha())
    ranked = sorted(counts, key=lambda word: (-counts[word], word))[FREQUENT:]
    asked = set([word for word in ranked if len(word) >= LETTERS][:CONTENTS])

    def read(e: Example, rng: Rng) -> Item | None:
        found = [word.lower() for word in words_of(e) if word.lower() in asked]
        return Item(e, found[0]) if len(found) == 1 else None

    return read


def tree_depth(known: Sequence[Example]) -> Reader:
    """The depth of its tree; each depth occurs with the same lengths."""

    def read(e: Example, rng: Rng) -> Item | None:
        depth = int(depths(heads_of(e)).max())
        return Item(e, str(depth), like=str(len(words_of(e)))) if depth in DEPTHS else None

    return read


def top_constituents(known: Sequence[Example]) -> Reader:
    """The relations of the root's dependents, if they are among the most frequent ones, else `other`."""
    counts = Counter(map(around_root, known))
    named = set(sorted(counts, key=lambda one: (-counts[one], one))[:CONSTITUENTS])
    return lambda e, rng: Item(e, around if (around := around_root(e)) in named else OTHER)


def around_root(e: Example) -> str:
    """The relations of the root's dependents from left to right, the root among them, without punctuation."""
    root, relations = root_of(e), relations_of(e)
    order = sorted([root, *children(heads_of(e))[root]])
    return " ".join("root" if word == root else relations[word] for word in order if relations[word] != "punct")


def past_present(known: Sequence[Example]) -> Reader:
    """The tense of the root, if it is a finite verb."""

    def read(e: Example, rng: Rng) -> Item | None:
        root = root_of(e)
        verb = features_of(e, root)
        finite = verb.get("UPOS") == "VERB" and verb.get("VerbForm") == "Fin" and verb.get("Tense") in TENSES
        return Item(e, TENSES[verb["Tense"]], words_of(e)[root].lower()) if finite else None

    return read


def subj_number(known: Sequence[Example]) -> Reader:
    """The number of the root's subject, if it is a noun."""
    return lambda e, rng: number_of(e, "nsubj")


def obj_number(known: Sequence[Example]) -> Reader:
    """The number of the root's object, if it is a noun."""
    return lambda e, rng: number_of(e, "obj")


def number_of(e: Example, relation: str) -> Item | None:
    """The number of the one word that is this to the root; None unless it is a noun with a number."""
    relations = relations_of(e)
    found = [word for word in children(heads_of(e))[root_of(e)] if relations[word] == relation]
    noun = features_of(e, found[0]) if len(found) == 1 else {}
    if noun.get("UPOS") != "NOUN" or noun.get("Number") not in NUMBERS:
        return None
    return Item(e, NUMBERS[noun["Number"]], words_of(e)[found[0]].lower())


def words_of(e: Example) -> tuple[str, ...]:
    """The words of a sentence."""
    return e.words or tuple(e.text.split())


def heads_of(e: Example) -> tuple[int, ...]:
    """Its tree."""
    return e.heads or ()


def root_of(e: Example) -> int:
    """The place of its root."""
    return heads_of(e).index(ROOT)


def relations_of(e: Example) -> list[str]:
    """The relations of its words, without their sub-types (`nsubj:pass` is `nsubj`)."""
    return [relation.partition(":")[0] for relation in e.relations or ()]


def features_of(e: Example, word: int) -> dict[str, str]:
    """Part of speech (`UPOS`) and morphology of a word."""
    pairs = ((e.features or ())[word] if e.features else "").split("|")
    return {name: value for name, _, value in (pair.partition("=") for pair in pairs)}
