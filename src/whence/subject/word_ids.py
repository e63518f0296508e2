"""The word of each token."""

import re
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from tokenizers import Encoding

from whence.data.examples import Example

NO_WORD = -1


def as_text(words: Sequence[str] | None, text: str) -> str:
    """The input of the tokenizer: words joined by spaces, as in training."""
    return text if words is None else " ".join(words)


def word_numbers(encoding: Encoding, example: Example, *, splits: bool) -> list[int]:
    """For every token the index of its word within its text; special tokens have none.

    If the corpus is split into words, those count, found by the token's offset in the text: a tokenizer that reads
    words one by one may split them differently than in a text. Otherwise the words are the tokenizer's own, or if it
    does not split texts into words (`splits`), those between spaces.
    """
    texts = [as_text(example.words, example.text), as_text(example.pair_words, example.pair or "")]
    starts = [
        _starts(words, text, splits) for words, text in zip((example.words, example.pair_words), texts, strict=True)
    ]
    numbers = []
    for own, segment, (begin, end) in zip(encoding.word_ids, encoding.sequence_ids, encoding.offsets, strict=True):
        at = None if segment is None else starts[segment]
        if segment is None:
            numbers.append(NO_WORD)
        elif at is None:
            numbers.append(NO_WORD if own is None else own)
        else:
            numbers.append(_word_at(at, texts[segment], begin, end))
    return numbers


def spelled(encoding: Encoding, example: Example, numbers: Sequence[int]) -> list[str]:
    """For every token its word, as spelled in the text; empty for special tokens."""
    texts = [as_text(example.words, example.text), as_text(example.pair_words, example.pair or "")]
    places: dict[tuple[int, int], tuple[int, int]] = {}
    which = [(segment or 0, number) for segment, number in zip(encoding.sequence_ids, numbers, strict=True)]
    for one, (begin, end) in zip(which, encoding.offsets, strict=True):
        first, last = places.get(one, (begin, end))
        places[one] = min(first, begin), max(last, end)
    return [
        "" if number == NO_WORD else texts[segment][slice(*places[segment, number])].strip()
        for segment, number in which
    ]


def _starts(words: Sequence[str] | None, text: str, splits: bool) -> np.ndarray | None:
    """Where each word begins in the text; None if the tokenizer splits it into words."""
    if words is not None:
        return np.array([0, *accumulate(len(word) + 1 for word in words[:-1])])
    return None if splits else np.array([found.start() for found in re.finditer(r"\S+", text)])


def _word_at(starts: np.ndarray, text: str, begin: int, end: int) -> int:
    """The word of a token's first letter; a token of only spaces belongs to the word after it."""
    while begin < end and text[begin].isspace():
        begin += 1
    return max(int(np.searchsorted(starts, begin, side="right")) - 1, 0)
