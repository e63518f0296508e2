"""Somebody and what is said of them, and a statement that follows, is ruled out, or is left open.

A premise tells of a person two things out of three: what they wear, what they are doing, where they are; and, as a
distraction, what they have with them. A hypothesis says one of the three, plainly (*the woman is playing the flute .*)
or in general (*the woman is making music .*). It is entailed if the premise says so, contradicted if the premise says
otherwise, and neutral if the premise does not say. Whatever the label, premises and hypotheses are drawn alike, so that
neither alone says anything about it. In `entailment:two` the premise tells of two people, and it must be seen whose
words are whose: half of the statements that do not follow are true of the other.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from whence.core.errors import BadConfig
from whence.data.entry import Entry
from whence.data.examples import Corpus, Example
from whence.data.rng import pick, seeded_rng

LABELS = ("entailment", "neutral", "contradiction")
SIZES = {"train": 6000, "dev": 600, "test": 600}
PEOPLE = ("woman", "man", "girl", "boy", "nurse", "baker", "sailor", "student")
GARMENTS = ("coat", "scarf", "jacket", "hat")
# fmt: off
THINGS = (
    "dog", "basket", "suitcase", "lantern", "camera", "map", "child", "parcel", "goat", "ladder", "book", "letter",
    "bottle", "stick", "rose", "clock",
)
# fmt: on
WEARS, DOES, IS_IN = "wears", "does", "is in"
VALUES: dict[str, dict[str, tuple[str, ...]]] = {  # what a premise may say, under what it is in general
    WEARS: {colour: (colour,) for colour in ("red", "blue", "green")},
    DOES: {
        "making music": ("playing the violin",),
        "doing sport": ("lifting weights",),
        "working": ("repairing a bicycle",),
    },
    IS_IN: {"outdoors": ("in the park",), "indoors": ("in the kitchen",)},
}


class Person(NamedTuple):
    """Somebody in a premise, and what is said of them: what it is in general, and what it is plainly."""

    who: str
    thing: str
    garment: str
    facts: dict[str, tuple[str, str]]


def load(seed: int = 0, sizes: Mapping[str, int] | None = None, people: int = 1) -> Corpus:
    """Pairs with balanced labels, no two the same.

    `words` are the premise, `pair_words` the hypothesis. The rationale marks the premise's words that decide: the
    thing said, and of two people the one of whom it is said. Neutral pairs have none, since it is what is *not* said
    that decides.
    """
    if people not in (1, 2):
        raise BadConfig(f"a premise of entailment tells of 1 or 2 people; {people} were asked for")
    rng, seen = seeded_rng(seed, f"entailment:{people}"), set[tuple[str, str | None]]()
    splits: dict[str, tuple[Example, ...]] = {}
    for split, size in (sizes or SIZES).items():
        order = rng.permutation(size)
        splits[split] = tuple(new_pair(rng, people, LABELS[i % 3], seen) for i in order)
    return Corpus("entailment" if people == 1 else "entailment:two", splits, LABELS, ENTRY.about)


def new_pair(rng: np.random.Generator, people: int, label: str, seen: set[tuple[str, str | None]]) -> Example:
    """A pair with this label that has not been seen. What it asks is not drawn again, so that nothing is favoured."""
    omitted = [pick(rng, tuple(VALUES)) for _ in range(people)]
    about = int(rng.integers(people))
    facts = tuple(matter for matter in VALUES if matter != omitted[about])
    matter = omitted[about] if label == "neutral" else pick(rng, facts)
    while True:
        who = [PEOPLE[i] for i in rng.permutation(len(PEOPLE))[:people]]
        somebody = [person(rng, name, kept) for name, kept in zip(who, omitted, strict=True)]
        example = pair(rng, somebody, about, matter, label)
        if (example.text, example.pair) not in seen:
            seen.add((example.text, example.pair))
            return example


def person(rng: np.random.Generator, who: str, omitted: str) -> Person:
    """Somebody of whom two facts out of three are given."""
    kinds = {matter: pick(rng, tuple(VALUES[matter])) for matter in VALUES if matter != omitted}
    facts = {matter: (kind, pick(rng, VALUES[matter][kind])) for matter, kind in kinds.items()}
    return Person(who, pick(rng, THINGS), pick(rng, GARMENTS), facts)


def pair(rng: np.random.Generator, people: Sequence[Person], about: int, matter: str, label: str) -> Example:
    """The premise about one or two people, and a hypothesis about one of them."""
    hypothesis = stated(rng, people, about, matter, label)
    marked: list[tuple[str, bool]] = []
    for i, somebody in enumerate(people):
        marked += [("and", False)] if i else []
        marked += clause(somebody, matter if i == about else "", named=i == about and len(people) > 1)
    words = (*(word for word, _ in marked), ".")
    marks = None if label == "neutral" else (*(mark for _, mark in marked), False)
    return Example(" ".join(words), label, " ".join(hypothesis), words, hypothesis, rationale=marks)


def clause(somebody: Person, decides: str, named: bool) -> list[tuple[str, bool]]:
    """What a premise tells of somebody, each word with whether it decides: what was asked, and who, if `named`."""
    value = {matter: said for matter, (_, said) in somebody.facts.items()}
    marked = [("a", False), (somebody.who, named), *all_marked(f"with a {somebody.thing}", False)]
    if WEARS in value:
        marked += [("in", False), ("a", False), (value[WEARS], decides == WEARS), (somebody.garment, False)]
    marked.append(("is", False))
    for matter in (DOES, IS_IN):
        marked += all_marked(value.get(matter, ""), decides == matter)
    return marked


def all_marked(text: str, mark: bool) -> list[tuple[str, bool]]:
    """The words of a text, all with the same mark."""
    return [(word, mark) for word in text.split()]


def stated(rng: np.random.Generator, people: Sequence[Person], about: int, matter: str, label: str) -> tuple[str, ...]:
    """The hypothesis: what the premise says, something else, or anything where it says nothing; plain or in general."""
    general = rng.random() < 0.5 and matter != WEARS
    everything = tuple(VALUES[matter]) if general else tuple(v for kind in VALUES[matter].values() for v in kind)
    of_each = [somebody.facts[matter][0 if general else 1] if matter in somebody.facts else "" for somebody in people]
    true = of_each[about]
    said = {"entailment": (true,), "neutral": everything}.get(label, tuple(v for v in everything if v != true))
    theirs = [value for i, value in enumerate(of_each) if i != about and value in said]
    value = pick(rng, theirs if theirs and rng.random() < 0.5 else said)
    if matter == WEARS:
        return ("the", people[about].who, "wears", "something", value, ".")
    return ("the", people[about].who, "is", *value.split(), ".")


ENTRY = Entry(
    name="entailment",
    about="made premises about somebody, each with a statement that follows, is left open, or is ruled out",
    licence="the same as Whence",
    kind="synthetic",
    load=load,
    variants={"one": {"people": 1}, "two": {"people": 2}},
    citation="After Bowman et al. (2015). A large annotated corpus for learning natural language inference. EMNLP.",
)
