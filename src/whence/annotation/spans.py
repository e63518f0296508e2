"""Words of an item as one string with offsets, as other tools want them, and back."""

from collections.abc import Iterable, Sequence
from typing import Any

from whence.annotation.study import Item, Place

BETWEEN = "\n\n"  # the two texts of a pair


def joined(item: Item) -> str:
    """The item's text, words separated by spaces, the second text of a pair in a paragraph of its own."""
    return BETWEEN.join(" ".join(words) for words in item.texts)


def spans(item: Item) -> dict[Place, tuple[int, int]]:
    """Where each word begins and ends in the joined text."""
    found: dict[Place, tuple[int, int]] = {}
    at = 0
    for number, words in enumerate(item.texts):
        for place, word in enumerate(words):
            found[number, place] = (at, at + len(word))
            at += len(word) + 1
        at += len(BETWEEN) - (1 if words else 0)
    return found


def words_within(item: Item, marked: Iterable[Sequence[Any]]) -> tuple[Place, ...]:
    """The words that a span of characters overlaps, for any of the spans [start, end)."""
    listed = [(int(start), int(end)) for start, end, *_ in marked]
    return tuple(
        place
        for place, (begin, stop) in spans(item).items()
        if any(start < stop and end > begin for start, end in listed)
    )


def with_marks(item: Item, panel: Sequence[Place], before: str, after: str) -> str:
    """The joined text with something before and after each highlighted word."""
    chosen = set(panel)
    return BETWEEN.join(
        " ".join(f"{before}{word}{after}" if (number, place) in chosen else word for place, word in enumerate(words))
        for number, words in enumerate(item.texts)
    )
