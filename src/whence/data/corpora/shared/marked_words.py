"""Words of a text and which of them are marked: by characters, by annotators, or by comparison with a revision."""

import re
from collections.abc import Collection, Sequence
from difflib import SequenceMatcher

WORD = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")  # punctuation marks are words of their own
Words = tuple[str, ...]
Marks = tuple[bool, ...]


def words_of(text: str) -> Words:
    """Words and punctuation marks."""
    return tuple(WORD.findall(text))


def marked_by_characters(text: str, characters: Collection[int]) -> tuple[Words, Marks]:
    """The words of a text; those are marked of which a character is."""
    chosen = set(characters)
    found = [(word[0], any(at in chosen for at in range(*word.span()))) for word in WORD.finditer(text)]
    return tuple(word for word, _ in found), tuple(mark for _, mark in found)


def changed_words(words: Sequence[str], others: Sequence[str]) -> Marks:
    """Which words are replaced or left out in another version of the text, by the longest common runs, case aside."""
    marks = [False] * len(words)
    lowered, other = ([word.lower() for word in side] for side in (words, others))
    for kind, start, end, _, _ in SequenceMatcher(None, lowered, other, autojunk=False).get_opcodes():
        if kind != "equal":
            marks[start:end] = [True] * (end - start)
    return tuple(marks)


def either(marks: Sequence[Marks]) -> Marks:
    """Words that any of several markings of a text has."""
    return tuple(any(of_word) for of_word in zip(*marks, strict=True))


def agreed(marks: Sequence[Sequence[bool]], at_least: int) -> Marks:
    """Words that so many of several annotators have marked."""
    return tuple(sum(of_word) >= at_least for of_word in zip(*marks, strict=True))
