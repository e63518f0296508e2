"""Two people and what is said of them, and a statement about one that follows, is ruled out, or is left open.

A premise tells of each of two people two things out of three: what they wear, what they are doing, where they are. A
hypothesis says one such thing of one of them, plainly (*the woman is playing the flute .*) or in general (*the woman is
making music .*). It is entailed if the premise says so, contradicted if the premise says otherwise, and neutral if the
premise does not say. Whatever the label, premises and hypotheses are drawn alike, so that neither alone says anything
about it; and both people's words stand in the premise, so that it must be seen whose they are.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from whence.data.draws import draws, pick
from whence.data.entry import Entry
from whence.data.examples import Corpus, Example

LABELS = ("entailment", "neutral", "contradiction")
SIZES = {"train": 3000, "dev": 600, "test": 600}
PEOPLE = ("woman", "man", "girl", "boy")
GARMENTS = ("coat", "scarf", "jacket", "hat")
WEARS, DOES, IS_IN = "wears", "does", "is in"
VALUES: dict[str, dict[str, tuple[str, ...]]] = {  # what a premise may say, under what it is in general
    WEARS: {colour: (colour,) for colour in ("red", "blue", "green", "yellow", "black", "white")},
    DOES: {
        "making music": ("playing the violin", "playing the flute", "singing a song"),
        "doing sport": ("lifting weights", "jumping rope", "throwing a ball"),
        "working": ("repairing a bicycle", "painting a wall", "counting money"),
    },
    IS_IN: {
        "outdoors": ("in the park", "in the forest", "in the garden"),
        "indoors": ("in the kitchen", "in the museum", "in the library"),
    },
}


class Person(NamedTuple):
    """Somebody in a premise: what is told, each under what it is in general, and what is not told."""

    who: str
    garment: str
    told: dict[str, tuple[str, str]]
    untold: str


def load(seed: int = 0, sizes: Mapping[str, int] | None = None) -> Corpus:
    """Pairs with balanced labels, no two the same.

    `words` are the premise, `pair_words` the hypothesis. The rationale marks the premise's words that decide: the
    person, and the thing said. Neutral pairs have none, since it is what is *not* said that decides.
    """
    rng, seen = draws(seed, "entailment"), set[tuple[str, str | None]]()
    splits: dict[str, tuple[Example, ...]] = {}
    for split, size in (sizes or SIZES).items():
        order = rng.permutation(size)
        splits[split] = tuple(new_pair(rng, LABELS[i % 3], seen) for i in order)
    return Corpus("entailment", splits, LABELS, ENTRY.about)


def new_pair(rng: np.random.Generator, label: str, seen: set[tuple[str, str | None]]) -> Example:
    """A pair with this label that has not been seen."""
    while True:
        first, second = (PEOPLE[i] for i in rng.permutation(len(PEOPLE))[:2])
        example = pair(rng, person(rng, first), person(rng, second), label)
        if (example.text, example.pair) not in seen:
            seen.add((example.text, example.pair))
            return example


def person(rng: np.random.Generator, who: str) -> Person:
    """Somebody of whom two things out of three are told."""
    untold = pick(rng, tuple(VALUES))
    kinds = {matter: pick(rng, tuple(VALUES[matter])) for matter in VALUES if matter != untold}
    told = {matter: (kind, pick(rng, VALUES[matter][kind])) for matter, kind in kinds.items()}
    return Person(who, pick(rng, GARMENTS), told, untold)


def pair(rng: np.random.Generator, first: Person, second: Person, label: str) -> Example:
    """The premise about two people, and a hypothesis about either."""
    about, other = (first, second) if rng.random() < 0.5 else (second, first)
    matter = about.untold if label == "neutral" else pick(rng, tuple(about.told))
    hypothesis = stated(rng, about, other, matter, label)
    decides = about.told.get(matter, ("", ""))[1]
    marked = [*clause(first, about.who, decides), ("and", False), *clause(second, about.who, decides), (".", False)]
    words = tuple(word for word, _ in marked)
    marks = None if label == "neutral" else tuple(mark for _, mark in marked)
    return Example(" ".join(words), label, " ".join(hypothesis), words, hypothesis, rationale=marks)


def clause(person: Person, about: str, decides: str) -> list[tuple[str, bool]]:
    """What a premise tells of somebody, each word with whether it decides."""
    told = {matter: value for matter, (_, value) in person.told.items()}
    wears = f"in a {told[WEARS]} {person.garment}" if WEARS in told else ""
    marked = [("a", False), (person.who, person.who == about), *unmarked(wears), ("is", False)]
    for matter in (DOES, IS_IN):
        marked += unmarked(told.get(matter, ""))
    if person.who != about:
        return marked
    words, wanted = [word for word, _ in marked], decides.split()
    at = next(i for i in range(len(words)) if words[i : i + len(wanted)] == wanted)
    return [(word, mark or at <= i < at + len(wanted)) for i, (word, mark) in enumerate(marked)]


def unmarked(text: str) -> list[tuple[str, bool]]:
    """The words of a text, none of which decides."""
    return [(word, False) for word in text.split()]


def stated(rng: np.random.Generator, about: Person, other: Person, matter: str, label: str) -> tuple[str, ...]:
    """The hypothesis: what is told, something else, or anything where nothing is told; plain or in general.

    Half of those that are not entailed say what the premise tells of the other person, where it does.
    """
    general = rng.random() < 0.5 and matter != WEARS
    everything = tuple(VALUES[matter]) if general else tuple(v for kind in VALUES[matter].values() for v in kind)
    true = about.told[matter][0 if general else 1] if matter in about.told else ""
    said = {"entailment": (true,), "neutral": everything}.get(label, tuple(v for v in everything if v != true))
    theirs = other.told[matter][0 if general else 1] if matter in other.told else ""
    value = theirs if rng.random() < 0.5 and theirs in said else pick(rng, said)
    if matter == WEARS:
        return ("the", about.who, "wears", "something", value, ".")
    return ("the", about.who, "is", *value.split(), ".")


ENTRY = Entry(
    name="entailment",
    about="made premises about two people, each with a statement that follows, is left open, or is ruled out",
    licence="that of Whence",
    kind="embedded",
    load=load,
    cite="After Bowman et al. (2015). A large annotated corpus for learning natural language inference. EMNLP.",
)
