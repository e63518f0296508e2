"""Film reviews generated from a small grammar: one opinion word decides the sentiment, through negation and contrast.

The opinion words are those of the VADER lexicon (Hutto & Gilbert 2014) that fit a film and on whose valence its human
raters agree. A review holds one judgement by its writer, surrounded by neutral remarks and by opinions that are not the
writer's or not about the film. Three rules give the label: a negator reverses an opinion; of two clauses the one after
*but* decides; other people's opinions, and opinions on other films, do not count.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from whence.data.entry import Entry
from whence.data.examples import Corpus, Example
from whence.data.rng import pick, seeded_rng

LABELS = ("negative", "positive")
SIZES = {"train": 2000, "dev": 400, "test": 400}
SHORTEST, LONGEST = 8, 30  # words, full stops and commas among them
# fmt: off
OPINIONS = {
    "positive": (
        "amazing", "beautiful", "brilliant", "charming", "clever", "delightful", "elegant", "enjoyable", "entertaining",
        "excellent", "exciting", "fabulous", "fantastic", "fascinating", "funny", "gorgeous", "graceful", "great",
        "impressive", "interesting", "lively", "lovely", "magnificent", "outstanding", "pleasant", "splendid", "superb",
        "thrilling", "wonderful",
    ),
    "negative": (
        "annoying", "disappointing", "disastrous", "dismal", "disturbing", "dull", "embarrassing", "frustrating",
        "horrible", "horrid", "idiotic", "insulting", "irritating", "lame", "lousy", "meaningless", "messy", "nasty",
        "painful", "poor", "ridiculous", "stupid", "terrible", "ugly", "unpleasant", "useless", "vile", "weak",
        "worthless",
    ),
}
# fmt: on
ASPECTS = (
    "acting",
    "camera work",
    "cast",
    "dialogue",
    "ending",
    "music",
    "opening",
    "plot",
    "script",
    "story",
    "title song",
)
PLAIN = (
    "the {it} is {opinion}",
    "the {it} seemed {opinion} to me",
    "i found the {it} {opinion}",
    "i think that the {it} is really {opinion}",
    "for me the {it} was {opinion}",
)
NEGATED = (
    "the {it} is {not} {opinion}",
    "i did {not} find the {it} {opinion}",
    "i do {not} think that the {it} is {opinion}",
    "{nobody} could call the {it} {opinion}",
    "there is {nothing} {opinion} about the {it}",
)
NEGATORS = {"{not}": "not", "{nobody}": "nobody", "{nothing}": "nothing"}
ELSEWHERE = (
    "my {who} had expected something {opinion}",
    "my {who} once called it {opinion}",
    "the last film by this director was {opinion}",
    "the other film that evening was {opinion}",
)
PEOPLE = ("aunt", "brother", "colleague", "dentist", "neighbour", "sister", "teacher", "uncle")
NEUTRAL = (
    "i saw it on a {day}",
    "it runs for {some} hours",
    "it is set in {town}",
    "we sat in row {some}",
    "it was filmed in {town}",
    "the cinema was half full that {day}",
    "it is on again next {day}",
    "there were {some} of us",
    "my {who} bought the tickets",
)
# fmt: off
FILL = {
    "{who}": PEOPLE,
    "{day}": ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    "{some}": ("two", "three", "four", "five"),
    "{town}": ("dublin", "hamburg", "lisbon", "montreal", "osaka", "prague", "vienna"),
}
# fmt: on
Opinions = Mapping[str, Sequence[str]]
Marked = tuple[tuple[str, bool], ...]  # words, each with whether it decides


def load(seed: int = 0, sizes: Mapping[str, int] | None = None, negated: float = 0.5) -> Corpus:
    """Reviews with balanced labels, all different; opinion words of later splits all occur in the first.

    `negated` is the share of deciding opinions that are negated. With one half, a bag of words is uninformative.
    """
    rng, seen = seeded_rng(seed, "reviews"), set[str]()
    opinions: Opinions = OPINIONS
    splits: dict[str, tuple[Example, ...]] = {}
    for split, size in (sizes or SIZES).items():
        order = rng.permutation(size)
        splits[split] = tuple(new_review(rng, LABELS[i % 2], opinions, seen, negated) for i in order)
        if len(splits) == 1:
            opinions = used(splits[split])
    return Corpus("reviews", splits, LABELS, ENTRY.about)


def used(examples: Sequence[Example]) -> Opinions:
    """The opinion words that occur; all of them, if one polarity is missing in so few examples."""
    there = {word for example in examples for word in example.words or ()}
    occurring = {label: tuple(w for w in words if w in there) for label, words in OPINIONS.items()}
    return occurring if all(occurring.values()) else OPINIONS


def new_review(
    rng: np.random.Generator, label: str, opinions: Opinions, seen: set[str], negated: float = 0.5
) -> Example:
    """A review of the right length that has not been generated before."""
    while True:
        marked = review(rng, label, opinions, negated)
        text = " ".join(word for word, _ in marked)
        if SHORTEST <= len(marked) <= LONGEST and text not in seen:
            seen.add(text)
            return Example(text, label, words=tuple(w for w, _ in marked), rationale=tuple(m for _, m in marked))


def review(rng: np.random.Generator, label: str, opinions: Opinions, negated: float = 0.5) -> Marked:
    """The judgement, with up to three other sentences around it."""
    sentences = [judgement(rng, label, opinions, negated)]
    frames = {pick(rng, ELSEWHERE if rng.random() < 0.4 else NEUTRAL): None for _ in range(int(rng.integers(4)))}
    for frame in frames:
        opinion = pick(rng, opinions[pick(rng, LABELS)])  # of either kind: it does not count
        sentences.insert(int(rng.integers(len(sentences) + 1)), without_marks(filled(rng, frame, opinion)))
    return tuple(word for sentence in sentences for word in (*sentence, (".", False)))


def judgement(rng: np.random.Generator, label: str, opinions: Opinions, negated: float) -> Marked:
    """The writer's opinion: one clause, or, in a third of the reviews, an opposite one followed by *but*."""
    first, second = rng.permutation(len(ASPECTS))[:2]
    decides = clause(rng, label, opinions, ASPECTS[first], negated)
    if rng.random() < 2 / 3:
        return decides
    granted = clause(rng, opposite(label), opinions, ASPECTS[second], negated)
    return (*without_marks(granted), (",", False), ("but", False), *decides)


def clause(rng: np.random.Generator, label: str, opinions: Opinions, aspect: str, negated: float) -> Marked:
    """An opinion on some aspect of the film; in a share of the clauses the opposite opinion, negated."""
    if rng.random() < 1 - negated:
        return filled(rng, pick(rng, PLAIN), pick(rng, opinions[label]), aspect)
    return filled(rng, pick(rng, NEGATED), pick(rng, opinions[opposite(label)]), aspect)


def filled(rng: np.random.Generator, frame: str, opinion: str, aspect: str = "") -> Marked:
    """The words of a template with its slots filled; the opinion and its negator are marked."""
    marked: list[tuple[str, bool]] = []
    for word in frame.replace("{it}", aspect).split():
        if word == "{opinion}":
            marked.append((opinion, True))
        elif word in NEGATORS:
            marked.append((NEGATORS[word], True))
        else:
            marked.append((pick(rng, FILL[word]) if word in FILL else word, False))
    return tuple(marked)


def without_marks(words: Marked) -> Marked:
    """The same words, none of them marked as deciding."""
    return tuple((word, False) for word, _ in words)


def opposite(label: str) -> str:
    """The other label."""
    return LABELS[1 - LABELS.index(label)]


ENTRY = Entry(
    name="reviews",
    about="generated film reviews, negative or positive; one opinion word and its negator decide",
    licence="the same as Whence",
    kind="synthetic",
    load=load,
    variants={"negated": {"negated": 0.5}, "plain": {"negated": 0.0}},
    citation="Opinion words after Hutto & Gilbert (2014). VADER: A Parsimonious Rule-based Model. ICWSM.",
)
