"""Texts in which one word decides the label, and what each word is worth to a model with hand-set weights.

A text of class A holds one (or more) of the words that decide for A, among words that do not decide. Those *lean*: they
speak for another class than the text's, so that a model that reads all words alike is wrong; or they are plain.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from whence.data.examples import Corpus, Example
from whence.data.rng import pick, seeded_rng

DECIDING = (("amber", "apple", "azure"), ("birch", "bread", "brown"), ("cedar", "chalk", "coral"))
LEANING = (
    ("about", "after", "again", "along"),
    ("below", "beside", "between", "beyond"),
    ("carry", "chair", "clock", "cloud"),
)
PLAIN = ("the", "of", "in", "on", "was", "is", "and", "with")
LABELS = ("first", "second", "third")
PREFIX = "zu"  # first piece of deciding words that are split in two


@dataclass(frozen=True)
class Texts:
    """How texts are made. `classes` have deciding words; `shortest` to `longest` count the words of a text.

    With `copies` the deciding word stands several times. With `leaning` off, words that do not decide are all plain.
    Deciding words stand neither among the first `clear_start` words nor among the last `clear_end`; `decides_last` puts
    the deciding word at the end.
    """

    classes: int = 2
    shortest: int = 7
    longest: int = 12
    copies: int = 1
    leaning: bool = True
    decides_last: bool = False
    clear_start: int = 0
    clear_end: int = 0
    shares: Sequence[float] = field(default=())  # of the classes; equal if there are none

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the classes."""
        return LABELS[: self.classes]

    def corpus(self, seed: int, n: int, **more: int) -> Corpus:
        """A corpus whose split `test` has n texts; `more` names further splits and their sizes."""
        splits = {name: self.examples(seed, size, name) for name, size in {**more, "test": n}.items()}
        return Corpus("calibration", splits, self.labels)

    def examples(self, seed: int, n: int, split: str = "test") -> tuple[Example, ...]:
        """Texts with their labels and the deciding words marked, classes in the given shares, in random order."""
        rng = seeded_rng(seed, f"calibration/{split}")
        shares = np.array(self.shares or [1 / self.classes] * self.classes)
        counts = np.floor(shares * n).astype(int)
        counts[0] += n - counts.sum()
        numbers = rng.permutation(np.repeat(np.arange(self.classes), counts))
        return tuple(self.text(rng, int(number)) for number in numbers)

    def text(self, rng: np.random.Generator, number: int) -> Example:
        """One text of a class."""
        length = int(rng.integers(self.shortest, self.longest + 1))
        leaning_to = pick(rng, [other for other in range(self.classes) if other != number])
        words = [self.other_word(rng, leaning_to) for _ in range(length - self.copies)]
        last = len(words)
        free = np.arange(self.clear_start, last - self.clear_end + 1)
        places = {last} if self.decides_last else set(rng.permutation(free)[: self.copies].tolist())
        decides = pick(rng, DECIDING[number])
        marked: list[tuple[str, bool]] = []
        for place in range(last + 1):
            marked += [(decides, True)] * (place in places) + [(word, False) for word in words[place : place + 1]]
        return marked_example(marked, self.labels[number])

    def other_word(self, rng: np.random.Generator, leaning_to: int) -> str:
        """A word that does not decide: it leans to this class, or is plain."""
        return pick(rng, LEANING[leaning_to] if self.leaning else PLAIN)


def marked_example(marked: Sequence[tuple[str, bool]], label: str) -> Example:
    """An example from its words, each with whether it decides."""
    words = tuple(word for word, _ in marked)
    return Example(" ".join(words), label, words=words, rationale=tuple(decides for _, decides in marked))


def vocabulary(classes: int = 3) -> tuple[str, ...]:
    """All words."""
    return tuple(word for words in (*DECIDING[:classes], *LEANING[:classes], PLAIN) for word in words)


def speaks_for() -> Mapping[str, int]:
    """The class that each word speaks for, deciding or leaning; plain words speak for none."""
    return {word: number for lists in (DECIDING, LEANING) for number, words in enumerate(lists) for word in words}


def decides() -> frozenset[str]:
    """The words that decide."""
    return frozenset(word for words in DECIDING for word in words)


def with_noise(corpus: Corpus, share: float, seed: int) -> Corpus:
    """The corpus with a share of its labels, drawn at random, replaced by another class."""
    rng = seeded_rng(seed, "noise")

    def noisy(examples: tuple[Example, ...]) -> tuple[Example, ...]:
        wrong = set(rng.permutation(len(examples))[: round(share * len(examples))].tolist())
        return tuple(_relabelled(rng, e, corpus.labels) if i in wrong else e for i, e in enumerate(examples))

    return replace(corpus, splits={name: noisy(examples) for name, examples in corpus.splits.items()})


def _relabelled(rng: np.random.Generator, example: Example, labels: Sequence[str]) -> Example:
    return replace(example, label=pick(rng, [label for label in labels if label != example.label]))


def replaced(example: Example, place: int, word: str) -> Example:
    """The example with another word at a place."""
    words = tuple(word if number == place else old for number, old in enumerate(example.words or ()))
    return replace(example, text=" ".join(words), words=words)
