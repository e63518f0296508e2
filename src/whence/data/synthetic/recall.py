"""An item to remember, then noise, then a cue: repeat the first word, or name the first sentence.

After the delayed classification of Haviv et al. (2019), whose item is a picture and whose noise is pixels; here in
words, as Mrini et al. 2019 suggest:

    lantern kettle drum kettle ribbon ?        the item, a delay of four words, the cue: lantern

`recall`: the item is one of twenty words, and the noise is drawn uniformly from the *same* words, independently of the
item. So only its position marks the item, and no other word is informative. `recall:apart`: the noise has twenty other
words. `recall:sst`, `recall:multi30k`: the item is one of twenty real sentences of four to eight words, and is named by
its number; the noise is other sentences, concatenated and cut to the delay. The sentences come from the corpus of that
name and are not part of Whence.

The delay is the number of words between item and cue. Models are trained on delays of 1 to 10 words and also tested on
longer ones. All items and all delays of a split are equally frequent. The rationale marks the words of the item.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from whence.core.errors import BadData
from whence.data.entry import Entry
from whence.data.examples import Corpus, Example
from whence.data.rng import pick, seeded_rng

# fmt: off
WORDS = ("anchor", "basket", "candle", "drum", "engine", "feather", "garden", "hammer", "island", "jacket", "kettle",
         "lantern", "mirror", "needle", "orchard", "pencil", "quarry", "ribbon", "saddle", "tunnel")
OTHERS = ("barely", "calmly", "dearly", "evenly", "firmly", "gladly", "hardly", "idly", "justly", "kindly", "loudly",
          "merely", "nearly", "openly", "plainly", "quickly", "rarely", "softly", "truly", "warmly")
# fmt: on
CUE = "?"
TRAINED = 10  # words, the longest delay in train and dev
TESTED = (1, 5, 10, 20, 40, 80)
SIZES = {"train": 4000, "dev": 400, "test": 1440}
SENTENCES, POOL = 20, 200  # to be remembered, and to make noise of
LENGTHS = range(4, 9)  # words of a sentence
TOKEN = re.compile(r"\w+|[^\w\s]")  # of a text that does not come in words

Words = tuple[str, ...]
Noise = Callable[[np.random.Generator, int], Words]  # so many words of noise


class Task(NamedTuple):
    """What is to be remembered, the labels, and the noise after it."""

    items: Sequence[Words]
    labels: Words
    noise: Noise


def load(
    seed: int = 0,
    sizes: Mapping[str, int] | None = None,
    apart: bool = False,
    of: Corpus | None = None,
    trained: int = TRAINED,
    tested: Sequence[int] = TESTED,
) -> Corpus:
    """Items, noise and a cue; `of` provides the real sentences. Delays are 1 to `trained`, in test `tested`.

    Short texts occur more than once: with one word of noise there are only four hundred.
    """
    name = f"recall:{of.name}" if of is not None else "recall:apart" if apart else "recall"
    rng = seeded_rng(seed, name)
    task = of_sentences(rng, of) if of is not None else of_words(OTHERS if apart else WORDS)
    delays = {"test": tuple(tested)}
    splits = {
        split: tuple(balanced(rng, task, size, delays.get(split, range(1, trained + 1))))
        for split, size in (sizes or SIZES).items()
    }
    notes = () if of is None else (f"drew {SENTENCES} sentences of {of.name} to be remembered, and {POOL} as noise",)
    return Corpus(name, splits, task.labels, ENTRY.about, notes)


def balanced(rng: np.random.Generator, task: Task, size: int, delays: Sequence[int]) -> Iterator[Example]:
    """So many examples in random order, items and delays as evenly represented as possible."""
    n = len(task.items)
    for number in rng.permutation(size).tolist():
        item, delay = number % n, delays[number // n % len(delays)]
        yield make_example(task.items[item], task.noise(rng, delay), task.labels[item])


def make_example(item: Words, noise: Words, label: str) -> Example:
    """The item, the noise and the cue."""
    words = (*item, *noise, CUE)
    return Example(" ".join(words), label, words=words, rationale=tuple(i < len(item) for i in range(len(words))))


def delay_of(example: Example) -> int:
    """The number of words between the item and the cue."""
    marks = example.rationale or ()
    length = sum(marks)
    if not 0 < length < len(marks) or not all(marks[:length]):
        raise BadData(
            "an item to be remembered was expected, marked as deciding at the beginning of the text, then noise, then"
            f" one word as the cue; got {len(example.text.split())} words with {length} marked. Use recall,"
            " recall:apart, recall:sst or recall:multi30k"
        )
    return len(marks) - length - 1


def of_words(noise: Words) -> Task:
    """One of twenty words, and noise of some words, each equally likely."""

    def draw(rng: np.random.Generator, n: int) -> Words:
        return tuple(noise[i] for i in rng.integers(len(noise), size=n).tolist())

    return Task([(word,) for word in WORDS], WORDS, draw)


def of_sentences(rng: np.random.Generator, corpus: Corpus) -> Task:
    """One of twenty sentences, and as noise other sentences of the same corpus, concatenated."""
    there = list(dict.fromkeys(filter(fits, map(in_words, next(iter(corpus.splits.values()), ())))))
    if len(there) < SENTENCES + POOL:
        raise BadData(
            f"{corpus.name} has {len(there)} different sentences of {LENGTHS[0]} to {LENGTHS[-1]} words in its first"
            f" split; expected {SENTENCES + POOL} or more, to remember some and to make noise of the others"
        )
    chosen = [there[i] for i in rng.permutation(len(there))[: SENTENCES + POOL].tolist()]
    items, pool = chosen[:SENTENCES], chosen[SENTENCES:]

    def running(rng: np.random.Generator, n: int) -> Words:
        words: Words = ()
        while len(words) < n:
            words += pick(rng, pool)
        return words[:n]

    return Task(items, tuple(f"sentence {number}" for number in range(1, SENTENCES + 1)), running)


def in_words(example: Example) -> Words:
    """A sentence in lower case: its own words or, where it has none, words and punctuation."""
    return tuple(word.lower() for word in example.words or TOKEN.findall(example.text))


def fits(words: Words) -> bool:
    """Whether a sentence has the right length, and none of its words is the cue or contains a space."""
    return len(words) in LENGTHS and all(word != CUE and word.split() == [word] for word in words)


ENTRY = Entry(
    name="recall",
    about="repeat the first word after a delay of noise words; also with real sentences, to be named",
    licence="that of Whence; the sentences of recall:sst and recall:multi30k are those of sst and multi30k",
    kind="synthetic",
    load=load,
    variants={"apart": {"apart": True}, "sst": {"of": "sst"}, "multi30k": {"of": "multi30k"}},
    citation="After Haviv et al. (2019). Understanding and Controlling Memory in Recurrent Neural Networks. ICML.",
)
