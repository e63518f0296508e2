"""English number words to be translated into German, where units come before tens, so that alignments cross.

*forty two* is *zwei und vierzig*: the German is split into its parts, in the order of *zweiundvierzig*. Numbers go from
0 to 999,999. Every word is linked to its translation; only *und*, which has no English counterpart, has no link.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from whence.core.errors import BadConfig
from whence.data.entry import Entry
from whence.data.examples import Corpus, Example
from whence.data.rng import seeded_rng

SIZES = {"train": 4000, "dev": 500, "test": 500}
DIGITS = 6
# fmt: off
ENGLISH = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)
GERMAN = (
    "null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf",
    "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn",
)
# fmt: on
TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
ZEHNER = ("", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig")
AND = "und"


class Spoken(NamedTuple):
    """A number in both languages; `links` says for each German word which English one it translates, -1 for none."""

    english: tuple[str, ...]
    german: tuple[str, ...]
    links: tuple[int, ...]


def load(seed: int = 0, sizes: Mapping[str, int] | None = None) -> Corpus:
    """Numbers of one to six digits, all different; each number of digits equally likely while new ones are left.

    `words` are the English, the target is the German in words, and the alignment holds the true links.
    """
    wanted = sizes or SIZES
    if sum(wanted.values()) > 10**DIGITS // 2:
        raise BadConfig(
            f"there are {10**DIGITS:,} numerals; expected sizes of at most half of them, got {sum(wanted.values()):,}"
        )
    rng, seen = seeded_rng(seed, "numerals"), set[int]()
    splits = {split: tuple(example(new_number(rng, seen)) for _ in range(size)) for split, size in wanted.items()}
    return Corpus("numerals", splits, about=ENTRY.about)


def new_number(rng: np.random.Generator, seen: set[int]) -> int:
    """A number that has not been used yet."""
    while True:
        number = int(rng.integers(10 ** int(rng.integers(1, DIGITS + 1))))
        if number not in seen:
            seen.add(number)
            return number


def example(number: int) -> Example:
    """A number as a pair of texts with the links between their words."""
    english, german, links = spoken(number)
    alignment = tuple(sorted((i, j) for j, i in enumerate(links) if i >= 0))
    return Example(" ".join(english), words=english, target=" ".join(german), alignment=alignment)


def spoken(number: int) -> Spoken:
    """A number below a million."""
    thousands, rest = divmod(number, 1000)
    if not thousands:
        return below_thousand(rest, last=True)
    many = joined(below_thousand(thousands, last=False), Spoken(("thousand",), ("tausend",), (0,)))
    return joined(many, below_thousand(rest, last=True)) if rest else many


def below_thousand(number: int, last: bool) -> Spoken:
    """A number below a thousand; `last` if nothing follows, since a final one is *eins*, any other *ein*."""
    hundreds, rest = divmod(number, 100)
    if not hundreds:
        return below_hundred(rest, last)
    many = joined(below_hundred(hundreds, last=False), Spoken(("hundred",), ("hundert",), (0,)))
    return joined(many, below_hundred(rest, last)) if rest else many


def below_hundred(number: int, last: bool) -> Spoken:
    """A number below a hundred: from 21 on, German has the unit first."""
    tens, unit = divmod(number, 10)
    if number < len(ENGLISH):
        return Spoken((ENGLISH[number],), ("ein" if number == 1 and not last else GERMAN[number],), (0,))
    if not unit:
        return Spoken((TENS[tens],), (ZEHNER[tens],), (0,))
    return Spoken((TENS[tens], ENGLISH[unit]), ("ein" if unit == 1 else GERMAN[unit], AND, ZEHNER[tens]), (1, -1, 0))


def joined(first: Spoken, second: Spoken) -> Spoken:
    """Two parts of a number, the second after the first."""
    moved = tuple(link if link < 0 else link + len(first.english) for link in second.links)
    return Spoken(first.english + second.english, first.german + second.german, first.links + moved)


ENTRY = Entry(
    name="numerals",
    about="made numerals to be translated from English into German, units before tens, with their true alignment",
    licence="the same as Whence",
    kind="synthetic",
    load=load,
    citation="Made for Whence; the rules are those of German grammar.",
)
