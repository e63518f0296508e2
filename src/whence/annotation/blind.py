"""Blinding: drawn texts become items in random order under meaningless names, with checks and repeats among them."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from whence.annotation.study import Item, Secret, Study
from whence.annotation.tasks import CHECK_TEXT, MARKING_CHECK, TASKS, TaskName

if TYPE_CHECKING:
    from whence.annotation.draw import Drawn

Pair = tuple[Item, Secret]


def blinded(
    task: TaskName,
    groups: "Sequence[Sequence[Drawn]]",
    about: dict[str, Any],
    design: dict[str, Any],
) -> Study:
    """The study of drawn texts. `design` has the seed, the number of highlighted words, of checks and of repeats.

    Names are hashes of a number that only the key holds, and items are shuffled by the seed, which only the key holds.
    A repeat comes half of the study after the item it repeats, as far as there is room.
    """
    rng = np.random.default_rng(design["seed"])
    drawn = [shown(task, one, design["top"], rng) for group in groups for one in group]
    pairs = [drawn[at] for at in rng.permutation(len(drawn))]
    again = rng.choice(len(pairs), min(design["repeats"], len(pairs)), replace=False).tolist()
    placed = [(float(at), at) for at in range(len(pairs))]
    placed += [((at + len(pairs) / 2) % len(pairs) + 0.5, at) for at in again]
    placed += [(float(at), len(pairs) + n) for n, at in enumerate(rng.uniform(0, len(pairs), design["checks"]))]
    pairs += [check(task, number, about["classes"], design["top"], rng) for number in range(design["checks"])]
    items, secrets, names = list[Item](), dict[str, Secret](), dict[int, str]()
    for number, (_, at) in enumerate(sorted(placed)):
        name = name_of(design["seed"], number)
        first = names.setdefault(at, name)
        items.append(replace(pairs[at][0], id=name))
        secrets[name] = replace(pairs[at][1], repeats="" if first == name else first)
    return Study(task, tuple(items), about, secrets, design)


def shown(task: TaskName, drawn: "Drawn", top: int, rng: np.random.Generator) -> Pair:
    """One drawn text as an item and its secret, without a name; the two panels of a preference in random order."""
    from whence.annotation.draw import highest

    conditions = list(drawn.scores)
    if task == "preference":
        rng.shuffle(conditions)
    panels = tuple(highest(drawn.scores[one], top, int(rng.integers(2**32))) for one in conditions)
    marking = task == "marking"
    secret = Secret(
        drawn.example,
        () if marking else tuple(conditions),
        drawn.label,
        drawn.correct,
        scores=drawn.scores if marking else {},
    )
    return Item("", drawn.texts, drawn.prediction, () if marking else panels), secret


def check(task: TaskName, number: int, classes: Sequence[str], top: int, rng: np.random.Generator) -> Pair:
    """An item whose text says what to answer, to see that items are read; answers are asked for in turn."""
    choices = list(TASKS[task].choices)
    if choices:
        answer = choices[number % 2]
        words = CHECK_TEXT.format(answer=answer).split()
    else:
        answer = ("study", "check", "text", "items")[number % 4]
        words = MARKING_CHECK.format(answer=answer).split()
        answer = str(len(words) - 2)  # where the word stands
    chosen = [rng.choice(len(words), top, replace=False).tolist() for _ in range(TASKS[task].panels)]
    panels = tuple(tuple(sorted((0, int(word)) for word in panel)) for panel in chosen)
    prediction = str(classes[int(rng.integers(len(classes)))]) if classes else ""
    return Item("", (tuple(words),), prediction, panels), Secret(-1, (), check=answer)


def name_of(seed: int, number: int) -> str:
    """The name of the item at a place: it depends on nothing else."""
    return hashlib.sha256(f"{seed}/item {number}".encode()).hexdigest()[:10]
