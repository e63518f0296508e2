"""Parallel texts: two files whose lines are translations of each other, plain or as the SGML of the WMT test sets."""

import html
import re
from collections.abc import Sequence
from pathlib import Path

from whence.core.errors import BadConfig, BadData
from whence.data.examples import Example
from whence.data.formats.text import each_line

SEGMENT = re.compile(r"<seg\b[^>]*>(.*)</seg>", re.IGNORECASE)
DIRECTIONS = ("en-de", "de-en")
Pairs = tuple[tuple[Example, ...], list[str]]


def read_parallel(english: Path, german: Path, direction: str) -> Pairs:
    """The pairs of two files, with what was dropped; files that end in .sgm are read as SGML."""
    sides = [read_segments(path) if ".sgm" in path.suffixes else read_lines(path) for path in (english, german)]
    if len(sides[0]) != len(sides[1]):
        raise BadData(
            f"{english} has {len(sides[0]):,} lines and {german} has {len(sides[1]):,}; line by line "
            "translations were expected"
        )
    return paired(sides[0], sides[1], direction, english.name)


def paired(english: Sequence[str], german: Sequence[str], direction: str, where: str) -> Pairs:
    """Examples with a text and its translation as target, in the direction wanted; those with an empty side dropped."""
    if direction not in DIRECTIONS:
        raise BadConfig(f"the direction must be {' or '.join(DIRECTIONS)}; it is {direction!r}")
    both = [(a, b) for a, b in zip(english, german, strict=True) if a and b]
    if not both:
        raise BadData(f"{where} and its translation hold no pair of lines with words on both sides")
    empty = len(english) - len(both)
    notes = [f"dropped {empty:,} pairs of {where} with nothing on one side"] if empty else []
    turned = both if direction == "en-de" else [(b, a) for a, b in both]
    return tuple(Example(text, target=target) for text, target in turned), notes


def read_lines(path: Path) -> list[str]:
    """The lines of a file, without the blanks around them."""
    return [line.strip() for _, line in each_line(path)]


def read_segments(path: Path) -> list[str]:
    """The segments of a WMT test set, `<seg id="1">text</seg>` one a line, with entities like &amp; written out."""
    segments = []
    for number, line in each_line(path):
        if "<seg" in line.lower():
            found = SEGMENT.search(line)
            if found is None:
                raise BadData(f"{path}, line {number}: <seg ...>text</seg> was expected on one line; got {line!r}")
            segments.append(html.unescape(found[1]).strip())
    if not segments:
        raise BadData(f'{path} holds no segments; lines like <seg id="1">text</seg> were expected')
    return segments
