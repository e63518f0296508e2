"""Life stories in windows of a few seconds, each with a mood that human ratings of its words determine.

The mood words are those of the VADER lexicon (Hutto & Gilbert 2014) that fit things, people and times and on whose
valence its human raters agree; each has its mean rating, from −4 to 4. The mood drifts from window to window, and mood
words are chosen to fit it; neutral words appear in the same positions. The value of a window follows from its words and
from those before it:

    v_t = v_{t−1} + ½ (r_t − v_{t−1}), v_0 = 0,  r_t = mean rating of the window's mood words / 4

Where a window has no mood words the value does not change. So a model must find the mood words, know their ratings, and
remember. The rationale marks the mood words.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from whence.data.entry import Entry
from whence.data.examples import Corpus, Example, narrative
from whence.data.rng import pick, seeded_rng
from whence.data.synthetic.reviews import PEOPLE

SIZES = {"train": 160, "dev": 40, "test": 40}
SHORTEST, LONGEST = 16, 30  # windows
# fmt: off
RATINGS = {
    "fine": 0.8, "warm": 0.9, "calm": 1.3, "comforting": 1.7, "interesting": 1.7, "nice": 1.8, "good": 1.9,
    "funny": 1.9, "gentle": 1.9, "lively": 1.9, "sweet": 2.0, "festive": 2.0, "exciting": 2.2, "friendly": 2.2,
    "peaceful": 2.2, "pleasant": 2.3, "kind": 2.4, "encouraging": 2.4, "cheerful": 2.5, "wonderful": 2.7, "happy": 2.7,
    "excellent": 2.7, "lovely": 2.8, "delightful": 2.8, "joyful": 2.9, "beautiful": 2.9, "great": 3.1,
    "strange": -0.8, "boring": -1.3, "tense": -1.4, "worrying": -1.4, "lonely": -1.5, "difficult": -1.5, "messy": -1.5,
    "embarrassing": -1.6, "dull": -1.7, "annoying": -1.7, "bitter": -1.8, "unhappy": -1.8, "painful": -1.9,
    "harsh": -1.9, "frustrating": -1.9, "sad": -2.1, "terrible": -2.1, "unpleasant": -2.1, "upsetting": -2.1,
    "scary": -2.2, "disappointing": -2.2, "stressful": -2.3, "bad": -2.5, "horrible": -2.5, "grim": -2.7,
    "disastrous": -2.9, "dismal": -3.0, "devastating": -3.3,
}
# fmt: on
LARGEST = 4.0  # of VADER's ratings
# fmt: off
PLAIN = ("busy", "different", "familiar", "late", "local", "long", "modern", "new", "northern", "official", "old",
         "ordinary", "quiet", "rural", "short", "similar", "small", "tall", "typical", "usual")
# fmt: on
DESCRIBED = (
    "the {thing} was {how}",
    "my {who} seemed {how}",
    "it all felt {how} to me",
    "we had a rather {how} {time}",
    "i remember the {thing} as {how}",
    "for my {who} it was {how}",
    "the whole {time} was {how}",
)
EVENTS = (
    "we went to {town}",
    "i was still at the {thing}",
    "my {who} came along",
    "it took about {some} hours",
    "there were {some} of us",
    "later we moved to {town}",
    "my {who} had left by then",
    "this was {some} years before that",
)
LINKS = ("and", "so", "um", "then", "anyway", "after that", "you know", "i mean", "one {time}")
# fmt: off
FILL = {
    "{who}": PEOPLE,
    "{thing}": ("bakery", "car", "flat", "garden", "hospital", "house", "kitchen", "letter", "office", "phone",
                "school", "station", "train"),
    "{time}": ("afternoon", "autumn", "day", "evening", "month", "morning", "night", "week", "winter"),
    "{some}": ("two", "three", "four", "five", "six"),
    "{town}": ("dublin", "hamburg", "lisbon", "montreal", "osaka", "prague", "vienna"),
}
# fmt: on
STEP = 0.3  # of the mood from window to window
Marked = list[tuple[str, bool]]  # words, each with whether it is a mood word


def load(seed: int = 0, sizes: Mapping[str, int] | None = None) -> Corpus:
    """Narratives with a value for each window; mood words of later splits all occur in the first."""
    rng, ratings = seeded_rng(seed, "narratives"), RATINGS
    splits: dict[str, tuple[Example, ...]] = {}
    for split, size in (sizes or SIZES).items():
        splits[split] = tuple(make_narrative(rng, ratings) for _ in range(size))
        if len(splits) == 1:
            there = {word for example in splits[split] for word in example.words or ()}
            ratings = {word: rating for word, rating in RATINGS.items() if word in there} or RATINGS
    return Corpus("narratives", splits, about=ENTRY.about)


def make_narrative(rng: np.random.Generator, ratings: Mapping[str, float]) -> Example:
    """One narrative."""
    windows = [window(rng, mood, ratings) for mood in moods(rng, int(rng.integers(SHORTEST, LONGEST + 1)))]
    words = [[word for word, _ in marked] for marked in windows]
    marks = [[mark for _, mark in marked] for marked in windows]
    return narrative(words, valence(words, marks), marks)


def valence(words: Sequence[Sequence[str]], marks: Sequence[Sequence[bool]]) -> list[float]:
    """The value of each window, from the ratings of the mood words so far."""
    values, value = [], 0.0
    for those, marked in zip(words, marks, strict=True):
        rated = [RATINGS[word] / LARGEST for word, mark in zip(those, marked, strict=True) if mark]
        if rated:
            value += (sum(rated) / len(rated) - value) / 2
        values.append(value)
    return values


def moods(rng: np.random.Generator, length: int) -> np.ndarray:
    """A mood that drifts between −1 and 1: a random walk reflected at both ends."""
    walk = rng.uniform(-1, 1) + np.cumsum(rng.normal(0, STEP, length))
    return np.abs((walk + 3) % 4 - 2) - 1


def window(rng: np.random.Generator, mood: float, ratings: Mapping[str, float]) -> Marked:
    """One to three clauses, in which something may be described, more often than not by a mood word."""
    marked: Marked = []
    for _ in range(int(rng.integers(1, 4))):
        marked += filled(rng, pick(rng, LINKS), "")
        described, moody = rng.random(2) < (0.8, 0.6)
        how = (mood_word(rng, mood, ratings) if moody else pick(rng, PLAIN)) if described else ""
        marked += filled(rng, pick(rng, DESCRIBED if described else EVENTS), how)
    return marked


def mood_word(rng: np.random.Generator, mood: float, ratings: Mapping[str, float]) -> str:
    """One of the five mood words whose ratings are nearest to the mood plus noise."""
    wanted = 3 * mood + rng.normal(0, 0.6)
    return pick(rng, sorted(ratings, key=lambda word: abs(ratings[word] - wanted))[:5])


def filled(rng: np.random.Generator, frame: str, how: str) -> Marked:
    """The words of a template with its slots filled; mood words are marked."""
    words = (how if word == "{how}" else pick(rng, FILL[word]) if word in FILL else word for word in frame.split())
    return [(word, word in RATINGS) for word in words]


ENTRY = Entry(
    name="narratives",
    about="generated life stories in windows, with the teller's valence in each; rated mood words decide",
    licence="the same as Whence",
    kind="synthetic",
    load=load,
    citation="Ratings after Hutto & Gilbert (2014). VADER: A Parsimonious Rule-based Model. ICWSM.",
)
