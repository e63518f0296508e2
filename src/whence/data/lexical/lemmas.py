"""A small English lemmatiser: endings are removed until a word is in a given dictionary."""

from collections.abc import Container, Iterator

SHORTEST = 3  # letters of a lemma: "ring" is not a form of "r"
VOWELS = set("aeiou")
APOSTROPHES = ("'s", "s'", "'")


def lemma(word: str, known: Container[str]) -> str | None:
    """The first candidate that is known; None if there is none. The word itself is not a candidate.

    Differs from Wu et al. 2020, whose authors took WordNet's lemma of the noun, then all forms of the package
    `word_forms` (their values averaged), then a list made by hand that is not released. These rules know no irregular
    forms (*went*, *children*) and nothing of parts of speech.
    """
    return next((one for one in candidates(word) if len(one) >= SHORTEST and one != word and one in known), None)


def candidates(word: str) -> Iterator[str]:
    """What a word may be a form of, the likelier first: possessive, plural, past, participle, comparison."""
    for ending in APOSTROPHES:
        if word.endswith(ending):
            bare = word.removesuffix(ending) + "s" * (ending == "s'")
            yield bare
            yield from candidates(bare)
            return
    if word.endswith("s") and not word.endswith("ss"):
        yield word[:-1]
        yield from _plural(word)
    for ending in ("ed", "ing", "er", "est"):
        if word.endswith(ending):
            yield from _stems(word.removesuffix(ending), ending)


def _plural(word: str) -> Iterator[str]:
    """-ies of -y, -ves of -f and -fe, -es."""
    if word.endswith("ies"):
        yield f"{word[:-3]}y"
    if word.endswith("ves"):
        yield f"{word[:-3]}f"
        yield f"{word[:-3]}fe"
    if word.endswith("es"):
        yield word[:-2]


def _stems(stem: str, ending: str) -> Iterator[str]:
    """The stem before an ending: with a restored e or y, unchanged, or without a doubled consonant.

    "hoped" is of *hope* and not of *hop*, so the e comes first; "missed" is of *miss*, so a doubled letter goes last.
    Two e's in a row are no stem and an ending ("career"), unless the stem has both ("agreed").
    """
    if stem.endswith("i") and ending != "ing":
        yield f"{stem[:-1]}y"
    yield f"{stem}e"
    if ending == "ing" or not stem.endswith("e"):
        yield stem
    if len(stem) > 1 and stem[-1] == stem[-2] and stem[-1] not in VOWELS:
        yield stem[:-1]
