"""Events of a story: people go to places, take things there and put them down elsewhere."""

from typing import NamedTuple

import numpy as np

from whence.data.rng import pick

PEOPLE = ("anna", "boris", "clara", "david")
PLACES = ("harbour", "library", "market", "museum", "school", "station")
THINGS = ("basket", "lantern", "letter", "violin")


class Event(NamedTuple):
    """One sentence: a person moves to a place, or takes or drops a thing."""

    kind: str
    person: str
    what: str


class Stop(NamedTuple):
    """A place that a thing was carried to, the sentence that says so, and since which sentence it was held."""

    place: str
    move: int
    taken: int


def make_events(rng: np.random.Generator, length: int, things: bool) -> list[Event]:
    """A consistent sequence of events: a thing is taken where it is, and dropped by whoever holds it."""
    events: list[Event] = []
    at: dict[str, str] = {}
    for _ in range(length):
        person = pick(rng, PEOPLE)
        mine = [thing for thing in THINGS if at.get(thing) == person]
        here = [thing for thing in THINGS if person in at and at.get(thing) in (None, at[person])]
        chance = rng.random() if things else 0.0
        if chance > 0.6 and here:
            events.append(Event("take", person, pick(rng, here)))
            at[events[-1].what] = person
        elif chance > 0.4 and mine:
            events.append(Event("drop", person, pick(rng, mine)))
            at[events[-1].what] = at[person]
        else:
            events.append(Event("move", person, pick(rng, [place for place in PLACES if place != at.get(person)])))
            at[person] = events[-1].what
    return events


def last(events: list[Event], before: int, kinds: tuple[str, ...], person: str = "", what: str = "") -> int:
    """The index of the last such event before an index; -1 if there is none."""
    fits = (i for i in range(before - 1, -1, -1) if events[i].kind in kinds)
    return next((i for i in fits if person in ("", events[i].person) and what in ("", events[i].what)), -1)


def journeys(events: list[Event]) -> dict[str, list[Stop]]:
    """The places where each thing has been, the first being where it was first taken."""
    stops: dict[str, list[Stop]] = {}
    held: dict[str, tuple[str, int]] = {}
    at: dict[str, str] = {}
    for i, (kind, person, what) in enumerate(events):
        if kind == "take":
            held[what] = (person, i)
            stops.setdefault(what, [Stop(at[person], i, i)])
        elif kind == "drop":
            del held[what]
        else:
            at[person] = what
            for thing, (holder, taken) in held.items():
                if holder == person:
                    stops[thing].append(Stop(what, i, taken))
    return stops
