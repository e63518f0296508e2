"""Texts that are neither too short nor too long, by their number of words."""

from collections.abc import Callable, Mapping

from whence.data.examples import Example

Splits = Mapping[str, tuple[Example, ...]]


def filter_by_length(splits: Splits, longer_than: int | None, shorter_than: int | None) -> tuple[Splits, list[str]]:
    """The examples whose text has more words than the one and fewer than the other, and sentences on those dropped.

    Where a corpus comes in running text, words are what stands between spaces.
    """
    notes = []
    if longer_than is not None:
        splits, gone = kept(splits, lambda length: length > longer_than)
        notes.append(f"dropped texts of {longer_than} words or fewer: {gone}")
    if shorter_than is not None:
        splits, gone = kept(splits, lambda length: length < shorter_than)
        notes.append(f"dropped texts of {shorter_than} words or more: {gone}")
    return splits, notes


def kept(splits: Splits, fits: Callable[[int], bool]) -> tuple[Splits, str]:
    """The examples of a fitting length, and how many of each split are not."""
    fitting = {split: tuple(e for e in examples if fits(words(e))) for split, examples in splits.items()}
    return fitting, describe_counts({split: len(splits[split]) - len(fitting[split]) for split in splits})


def words(example: Example) -> int:
    """How many words a text has."""
    return len(example.text.split() if example.words is None else example.words)


def describe_counts(numbers: Mapping[str, int]) -> str:
    """Numbers of the splits in words."""
    return ", ".join(f"{number:,} of {split}" for split, number in numbers.items())
