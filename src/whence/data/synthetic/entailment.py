"""A premise about one or two people, and a statement that is entailed, contradicted or neutral.

A premise gives two of three facts about a person: what they wear, what they are doing, where they are; and, as a
distraction, what they have with them. A hypothesis states one of the three, specifically (*the woman is playing the
flute .*) or in general (*the woman is making music .*). It is entailed if the premise says so, contradicted if the
premise says something else, and neutral if the premise does not mention it. Premises and hypotheses are drawn from the
same distribution for every label, so neither alone predicts it. In `entailment:two` the premise is about two people,
and a model must match facts with people: half of the statements that do not follow are true of the other person.
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
    """A person in a premise, and the facts about them: each in general and specifically."""

    who: str
    thing: str
    garment: str
    facts: dict[str, tuple[str, str]]


def load(seed: int = 0, sizes: Mapping[str, int] | None = None, people: int = 1) -> Corpus:
    """Pairs with balanced labels, all different.

    `words` are the premise, `pair_words` the hypothesis. The rationale marks the words of the premise that decide: the
    fact, and with two people also whose it is. Neutral pairs have none, since it is the missing fact that decides.
    """
    if people not in (1, 2):
        raise BadConfig(f"a premise of entailment is about 1 or 2 people; got {people}")
    rng, seen = seeded_rng(seed, f"entailment:{people}"), set[tuple[str, str | None]]()
    splits: dict[str, tuple[Example, ...]] = {}
    for split, size in (sizes or SIZES).items():
        order = rng.permutation(size)
        splits[split] = tuple(new_pair(rng, people, LABELS[i % 3], seen) for i in order)
    return Corpus("entailment" if people == 1 else "entailment:two", splits, LABELS, ENTRY.about)


def new_pair(rng: np.random.Generator, people: int, label: str, seen: set[tuple[str, str | None]]) -> Example:
    """A new pair with this label. The kind of fact is drawn once, so that retries favour none."""
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
    """A person with two facts out of three."""
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
    """The premise about one person, each word with whether it decides: the fact in question, and who, if `named`."""
    value = {matter: plain for matter, (_, plain) in somebody.facts.items()}
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
    """The hypothesis: what the premise says, something else, or anything if it says nothing; specific or general."""
    general = rng.random() < 0.5 and matter != WEARS
    everything = tuple(VALUES[matter]) if general else tuple(v for kind in VALUES[matter].values() for v in kind)
    of_each = [somebody.facts[matter][0 if general else 1] if matter in somebody.facts else "" for somebody in people]
    true = of_each[about]
    candidates = {"entailment": (true,), "neutral": everything}.get(label, tuple(v for v in everything if v != true))
    theirs = [value for i, value in enumerate(of_each) if i != about and value in candidates]
    value = pick(rng, theirs if theirs and rng.random() < 0.5 else candidates)
    if matter == WEARS:
        return ("the", people[about].who, "wears", "something", value, ".")
    return ("the", people[about].who, "is", *value.split(), ".")


ENTRY = Entry(
    name="entailment",
    about="generated premises about people, each with a statement that is entailed, neutral or contradicted",
    licence="the same as Whence",
    kind="synthetic",
    load=load,
    variants={"one": {"people": 1}, "two": {"people": 2}},
    citation="After Bowman et al. (2015). A large annotated corpus for learning natural language inference. EMNLP.",
)
