"""A token to plant in a user's texts: one that the model knows and that the texts hardly ever have."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from whence.core.errors import BadData
from whence.data.examples import Example
from whence.data.planted import in_words, with_token
from whence.data.rng import seeded_rng
from whence.evaluation.context import Context
from whence.subject.subject import Subject

TRIED = 2000  # words of the vocabulary
SHORTEST = 3  # letters of a word
POOL = 1000  # texts to learn from, at most


class Planted(NamedTuple):
    """A text without the token and with it; `place` is the token's among its words."""

    number: int  # of the example
    plain: Example
    marked: Example
    place: int


def choose_token(subject: Subject, examples: Sequence[Example], seed: int) -> str:
    """A word that is one token of the model's vocabulary, and that the fewest of the examples have."""
    count = Counter(word for example in examples for word in set(letters(example).split()))
    vocabulary = sorted(subject.tokenizer.get_vocab())
    order = seeded_rng(seed, "planted token").permutation(len(vocabulary))[:TRIED]
    best: tuple[int, str] | None = None
    for word in single_words(subject, [vocabulary[number] for number in order]):
        rare = (count[word.lower()], word)
        best = rare if best is None or rare[0] < best[0] else best
        if best[0] == 0:
            break
    if best is None:
        raise BadData("no word of the model's vocabulary is a single token, so that none can be planted in texts")
    return best[1]


def single_words(subject: Subject, pieces: Sequence[str]) -> Iterator[str]:
    """The words among some pieces of the vocabulary that are one token within a text."""
    tokenizer = subject.tokenizer
    alone = tokenizer("a", add_special_tokens=False)["input_ids"]
    for piece in pieces:
        word = tokenizer.convert_tokens_to_string([piece]).strip()
        if len(word) >= SHORTEST and word.isascii() and word.isalpha() and word.islower():
            ids = tokenizer(f"a {word}", add_special_tokens=False)["input_ids"]
            if len(ids) == len(alone) + 1 and ids[-1] != tokenizer.unk_token_id:
                yield word


def letters(example: Example) -> str:
    """The words of an example in lower case, without punctuation."""
    return " ".join(re.findall(r"\w+", f"{example.text} {example.pair or ''}".lower()))


def plant(examples: Sequence[Example], token: str, label: str, seed: int) -> list[Planted]:
    """Every example that does not have the token, without and with it, at a random place."""
    rng = seeded_rng(seed, "planted places")
    places: np.ndarray = rng.random(len(examples))
    found = []
    for number, example in enumerate(examples):
        if token.lower() not in letters(example).split():
            text = in_words(bare(example))
            marked = with_token(text, token, label, float(places[number]))
            found.append(Planted(number, text, marked, (marked.rationale or ()).index(True)))
    return found


def bare(example: Example) -> Example:
    """The texts of an example, without anything that is predicted or known of its words."""
    return Example(example.text, pair=example.pair, words=example.words, pair_words=example.pair_words)


def texts_to_learn_from(context: Context) -> tuple[list[Example], set[int]]:
    """Examples of the corpus that are not evaluated, at most so many; and which of the evaluated ones they are.

    Those of train, else of all other splits and the rest of the evaluated one; where the corpus has no more, every
    other one of the evaluated examples, which are then not tested.
    """
    evaluated = {id(example) for example in context.examples}
    splits = {} if context.corpus is None else dict(context.corpus.splits)
    there = splits.get("train") or [example for examples in splits.values() for example in examples]
    others = [example for example in there if id(example) not in evaluated]
    if len(others) >= len(context.examples) // 2:
        order = seeded_rng(context.seed, "planted pool").permutation(len(others))[:POOL]
        return [others[number] for number in sorted(order.tolist())], set()
    held = set(range(0, len(context.examples), 2))
    return [context.examples[number] for number in sorted(held)], held
