"""Stories about people, places and things, and a question that one, two or three sentences of the story answer.

After bAbI tasks 1 to 3 (Weston et al. 2015), with our own people, places and things:

1. *where is clara ?* Her last move answers.
2. *where is the violin ?* Who last held it, and where that person was: the last time it was taken or put down, and the
   move of that person which says where (after taking it, or else before).
3. *where was the violin before the harbour ?* Who carried it there: the taking, the move to the harbour, and the same
   person's move before that.

`stories:words` is a short form of the first kind: everyone has moved once, and each move is one word, as in *clara-
harbour*. So the answer needs one word of the story, and no other word is informative.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from whence.core.errors import BadConfig
from whence.data.entry import Entry
from whence.data.examples import Corpus, Example
from whence.data.rng import pick, seeded_rng
from whence.data.synthetic.shared.story_events import PLACES, Event, journeys, last, make_events

MOVE = ("went", "moved", "journeyed", "travelled", "walked")
TAKE = ("took", "picked up", "grabbed")
DROP = ("dropped", "put down", "left")
SIZES = {"train": 2000, "dev": 300, "test": 300}
LENGTHS = {1: (2, 10), 2: (4, 14), 3: (6, 18)}  # sentences, the shortest and the longest story


class Asked(NamedTuple):
    """A question with its answer, and the sentences of the story that support it."""

    question: tuple[str, ...]
    answer: str
    support: tuple[int, ...]


def load(seed: int = 0, facts: int = 1, sizes: Mapping[str, int] | None = None, short: bool = False) -> Corpus:
    """Stories with a question each, all different; answers are balanced over the places. In `short` each fact is one
    word.

    `words` are the story, `pair_words` the question, and the rationale marks all words of the supporting sentences.
    """
    if facts not in LENGTHS:
        raise BadConfig(f"a story has 1, 2 or 3 supporting facts; got {facts}")
    name = "stories:words" if short else "stories" if facts == 1 else f"stories:{facts}"
    rng, seen = seeded_rng(seed, "stories:words" if short else f"stories:{facts}"), set[tuple[str, str | None]]()
    splits: dict[str, tuple[Example, ...]] = {}
    for split, size in (sizes or SIZES).items():
        order = rng.permutation(size)
        splits[split] = tuple(new_story(rng, facts, PLACES[i % len(PLACES)], seen, short) for i in order)
    return Corpus(name, splits, PLACES, ENTRY.about)


def new_story(
    rng: np.random.Generator, facts: int, answer: str, seen: set[tuple[str, str | None]], short: bool = False
) -> Example:
    """A new story with this answer."""
    shortest, longest = LENGTHS[facts]
    while True:
        events = make_events(rng, int(rng.integers(shortest, longest + 1)), things=facts > 1)
        events = list({event.person: event for event in events}.values()) if short else events
        asked = {1: ask_person, 2: ask_thing, 3: ask_before}[facts](rng, events)
        if asked is None:
            continue
        example = make_story(rng, events, asked, answer, short)
        if (example.text, example.pair) not in seen:
            seen.add((example.text, example.pair))
            return example


def ask_person(rng: np.random.Generator, events: list[Event]) -> Asked:
    """Where a person is, who has moved."""
    person = pick(rng, sorted({event.person for event in events}))
    move = last(events, len(events), ("move",), person)
    return Asked(("where", "is", person, "?"), events[move].what, (move,))


def ask_thing(rng: np.random.Generator, events: list[Event]) -> Asked | None:
    """Where a thing is that has been taken."""
    handled = sorted({event.what for event in events if event.kind == "take"})
    if not handled:
        return None
    thing = pick(rng, handled)
    hand = last(events, len(events), ("take", "drop"), what=thing)
    until = len(events) if events[hand].kind == "take" else hand
    move = last(events, until, ("move",), events[hand].person)
    return Asked(("where", "is", "the", thing, "?"), events[move].what, (hand, move))


def ask_before(rng: np.random.Generator, events: list[Event]) -> Asked | None:
    """Where a thing was before it was carried to a place that it reached only once."""
    carried = []
    for thing, stops in journeys(events).items():
        been = [stop.place for stop in stops]
        carried += [(thing, stop) for stop in stops[1:] if been.count(stop.place) == 1]
    if not carried:
        return None
    thing, stop = pick(rng, carried)
    before = last(events, stop.move, ("move",), events[stop.move].person)
    question = ("where", "was", "the", thing, "before", "the", stop.place, "?")
    return Asked(question, events[before].what, (stop.taken, before, stop.move))


def make_story(
    rng: np.random.Generator, events: list[Event], asked: Asked, answer: str, short: bool = False
) -> Example:
    """The story in words; two places swap names so that the answer is the one wanted."""
    renamed = {asked.answer: answer, answer: asked.answer}
    sentences = [in_a_word(event, renamed) if short else sentence(rng, event, renamed) for event in events]
    words = tuple(word for words in sentences for word in words)
    marks = tuple(i in asked.support for i, words in enumerate(sentences) for _ in words)
    question = tuple(renamed.get(word, word) for word in asked.question)
    return Example(" ".join(words), answer, " ".join(question), words, question, rationale=marks)


def sentence(rng: np.random.Generator, event: Event, renamed: Mapping[str, str]) -> tuple[str, ...]:
    """An event in words."""
    verb = pick(rng, {"move": MOVE, "take": TAKE, "drop": DROP}[event.kind])
    to = ("to",) if event.kind == "move" else ()
    return (event.person, *verb.split(), *to, "the", renamed.get(event.what, event.what), ".")


def in_a_word(event: Event, renamed: Mapping[str, str]) -> tuple[str, ...]:
    """A move in one word: who, and where to."""
    return (f"{event.person}-{renamed.get(event.what, event.what)}",)


ENTRY = Entry(
    name="stories",
    about="generated stories of who went where with what; one, two or three of their sentences answer the question",
    licence="the same as Whence",
    kind="synthetic",
    load=load,
    variants={**{str(facts): {"facts": facts} for facts in LENGTHS}, "words": {"short": True}},
    citation="After Weston et al. (2015). Towards AI-Complete Question Answering. arXiv:1502.05698.",
)
