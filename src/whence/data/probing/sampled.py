"""Probing tasks with sampled sentences: from a treebank (`tasks`, `perturbed`), or from the labels of a corpus."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from whence.data.corpora.senteval import TASKS
from whence.data.examples import Corpus, Example
from whence.data.probing import perturbed, tasks
from whence.data.probing.tasks import LONGEST, SHORTEST, Item, Reader, words_of
from whence.data.rng import seeded_rng

MAKERS: dict[str, Callable[[Sequence[Example]], Reader]] = {
    name: getattr(tasks, name, None) or getattr(perturbed, name) for name in TASKS
}
UNEVEN = ("word_content",)  # as many sentences of each class as there are, up to its share
FEWEST = 20  # sentences of a test, and of each class in training
KEPT = 2 / 3  # of the sentences are for training, where a corpus has no training split


@dataclass(frozen=True)
class Task:
    """A probing task, with the sentences that a probe is trained on and those that it is tested on."""

    name: str
    train: tuple[Item, ...]
    test: tuple[Item, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes that occur in training."""
        return tuple(sorted(set(self.split_labels[0])))

    @property
    def split_labels(self) -> tuple[list[str], list[str]]:
        """The label of each sentence, in training and in the test."""
        return [item.label for item in self.train], [item.label for item in self.test]


def split_sentences(
    corpus: Corpus | None, evaluated: Sequence[Example], seed: int
) -> tuple[list[Example], list[Example]]:
    """Sentences to train probes on, and to test them: those of `train`, and those that are evaluated; where there are
    no others, two thirds and a third of these, by the seed. No text is in both.
    """
    those = {id(example) for example in evaluated}
    others = () if corpus is None else corpus.splits.get("train", ())
    train, test = [example for example in others if id(example) not in those], list(evaluated)
    if not train:
        order = seeded_rng(seed, "probing/split").permutation(len(test))
        cut = round(KEPT * len(test))
        train, test = [test[i] for i in sorted(order[:cut])], [test[i] for i in sorted(order[cut:])]
    asked = {(example.text, example.pair) for example in test}
    return [example for example in train if (example.text, example.pair) not in asked], test


def tasks_from_trees(
    names: Iterable[str], train: Sequence[Example], test: Sequence[Example], n_train: int, n_test: int, seed: int
) -> tuple[list[Task], dict[str, str]]:
    """The tasks that can be built from the trees of sentences, and why others cannot.

    Sentences are taken in one order for all tasks, so that tasks share sentences, which are encoded once.
    """
    sides = [in_order([e for e in side if SHORTEST <= len(words_of(e)) <= LONGEST], seed) for side in (train, test)]
    made, left_out = [], {}
    for name in names:
        task = _task_from_trees(name, sides[0], sides[1], n_train, n_test, seed)
        why_not = lacking(task)
        if why_not:
            left_out[name] = why_not
        else:
            made.append(task)
    return made, left_out


def _task_from_trees(
    name: str, train: Sequence[Example], test: Sequence[Example], n_train: int, n_test: int, seed: int
) -> Task:
    reader, rng = MAKERS[name](train), seeded_rng(seed, f"probing/{name}")
    found = [[item for e in side if (item := reader(e, rng))] for side in (train, test)]
    draw = uneven if name in UNEVEN else even
    asked = draw(found[1], n_test)
    test_words = {item.target for item in asked} - {""}
    return Task(name, tuple(draw([item for item in found[0] if item.target not in test_words], n_train)), tuple(asked))


def task_from_labels(
    name: str, train: Sequence[Example], test: Sequence[Example], n_train: int, n_test: int, seed: int
) -> Task:
    """The labels of a corpus as one task, its classes as frequent as they are."""
    sides = ((train, n_train), (test, n_test))
    drawn = [[Item(e, e.label) for e in in_order(side, seed) if e.label is not None][:n] for side, n in sides]
    return Task(name, tuple(drawn[0]), tuple(drawn[1]))


def in_order(examples: Sequence[Example], seed: int) -> list[Example]:
    """The examples in a random order by the seed."""
    return [examples[i] for i in seeded_rng(seed, "probing/order").permutation(len(examples))]


def even(items: Sequence[Item], n: int) -> list[Item]:
    """At most n items, as many of each class; where items share a property, as many of each class that have it."""
    labels = sorted({item.label for item in items})
    alike: dict[str, dict[str, list[int]]] = defaultdict(lambda: {label: [] for label in labels})
    for number, item in enumerate(items):
        alike[item.like][item.label].append(number)
    rounds = [one for by_label in alike.values() for one in zip(*by_label.values(), strict=False)]  # one of each class
    kept = sorted(rounds, key=max)[: n // max(len(labels), 1)]
    return [items[number] for one in kept for number in one]


def uneven(items: Sequence[Item], n: int) -> list[Item]:
    """At most n items, of each class the first ones up to its share."""
    labels = {item.label for item in items}
    taken: dict[str, int] = defaultdict(int)
    kept = []
    for item in items:
        taken[item.label] += 1
        if taken[item.label] <= n // len(labels):
            kept.append(item)
    return kept


def lacking(task: Task) -> str:
    """Why a task cannot be used; empty if it can."""
    if len(task.labels) < 2:
        return f"{len(task.labels)} classes in training, fewer than 2"
    if len(task.test) < FEWEST:
        return f"{len(task.test)} sentences in the test, fewer than {FEWEST}"
    each = len(task.train) // len(task.labels)
    return f"{each} sentences of a class in training, fewer than {FEWEST}" if each < FEWEST else ""


def features_checksum(corpus: Corpus) -> str:
    """sha256 over the features of all words, which a corpus's own checksum leaves out."""
    digest = hashlib.sha256()
    for examples in corpus.splits.values():
        for example in examples:
            digest.update("\t".join(example.features or ()).encode() + b"\n")
    return digest.hexdigest()
