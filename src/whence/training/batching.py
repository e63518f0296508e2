"""The batches of a training: of similar lengths, encoded once, short texts first if a curriculum says so."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import torch
from torch import Generator

from whence.core.errors import BadConfig
from whence.core.seeds import stream
from whence.data.examples import Example
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.training.recipe import Recipe

POOL = 50  # batches' worth of texts that are sorted by length together
MAX_CACHED_WORDS = 12_000_000  # words of texts whose batches are kept in memory between epochs
MakeBatch = Callable[[], Batch]


def batches_by_epoch(subject: Subject, train: Sequence[Example], recipe: Recipe) -> Callable[[int], list[MakeBatch]]:
    """The batches of an epoch, by its number: the same in all epochs, but for what a curriculum leaves out."""
    lengths = [len(example.text.split()) for example in train] if recipe.curriculum else []
    shortest = min((words for words, _ in recipe.curriculum), default=0)
    if lengths and min(lengths) > shortest:
        raise BadConfig(
            f"the curriculum begins with texts of at most {shortest} words; the shortest training text has"
            f" {min(lengths)}. Begin with longer texts"
        )

    @cache
    def of_texts(longest: int | None) -> list[MakeBatch]:
        return in_batches(
            subject, train, recipe, [n for n, words in enumerate(lengths) if longest and words <= longest]
        )

    return lambda epoch: of_texts(recipe.longest(epoch))


def in_batches(
    subject: Subject, train: Sequence[Example], recipe: Recipe, which: Sequence[int] = ()
) -> list[MakeBatch]:
    """The training texts, or some of them, in batches; kept in memory if they are not too long altogether."""

    def encoded(numbers: list[int]) -> Batch:
        return subject.encode([train[number] for number in numbers], numbers)

    which = which or range(len(train))
    words = sum(len(text.split()) for n in which for text in (train[n].text, train[n].pair, train[n].target) if text)
    keep = cache if words <= MAX_CACHED_WORDS else lambda make: make
    found = by_length([train[number] for number in which], recipe.batch_size, stream(recipe.seed, "batches"))
    return [keep(partial(encoded, [which[number] for number in some])) for some in found]


def by_length(examples: Sequence[Example], batch_size: int, generator: Generator) -> list[list[int]]:
    """All numbers in random batches of similar length: pools of random texts, each sorted and cut."""
    order = torch.randperm(len(examples), generator=generator).tolist()
    batches = []
    for start in range(0, len(order), POOL * batch_size):
        pool = sorted(order[start : start + POOL * batch_size], key=lambda number: len(examples[number].text))
        batches += [pool[i : i + batch_size] for i in range(0, len(pool), batch_size)]
    return batches


@contextmanager
def encoded_once(subject: Subject, examples: Sequence[Example]) -> Iterator[None]:
    """While open, the batches of these examples are encoded when they are first asked for, and kept."""
    encode, kept = subject.batches, dict[int, list[Batch]]()

    def batches(some: Sequence[Example], batch_size: int = 32, *, labelled: bool = True) -> Iterator[Batch]:
        if some is not examples or not labelled:
            return encode(some, batch_size, labelled=labelled)
        if batch_size not in kept:
            kept[batch_size] = list(encode(some, batch_size))
        return iter(kept[batch_size])

    changed: Any = subject
    changed.batches = batches
    try:
        yield
    finally:
        del changed.batches  # the method of its class again
