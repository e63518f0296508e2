"""Pairs for natural language inference as JSON lines, the form that SNLI and MultiNLI share."""

import sys
from collections import Counter
from pathlib import Path
from typing import Any

from whence.core.errors import BadData
from whence.data.examples import Example
from whence.data.files import each_line, short
from whence.data.formats import as_object
from whence.data.sst import plain

LABELS = ("entailment", "neutral", "contradiction")
UNDECIDED = "-"  # the annotators did not agree
FULL = ("sentence1", "sentence2", "gold_label")
REDUCED = ("premise", "hypothesis", "label")


def read_pairs(paths: list[Path]) -> tuple[tuple[Example, ...], list[str]]:
    """The pairs of some files that have a label and words on both sides, and sentences on those that have not.

    The premise is the text, the hypothesis the pair. Words are those of the binary parses, where a file has them.
    """
    skipped: Counter[str] = Counter()
    pairs = []
    for path in paths:
        for number, line in each_line(path):
            if line.strip():
                read = as_pair(as_object(line, f"{path}, line {number}"), f"{path}, line {number}")
                skipped[read if isinstance(read, str) else ""] += 1
                pairs += [] if isinstance(read, str) else [read]
    if not pairs:
        raise BadData(f"{', '.join(map(str, paths))} holds no labelled pairs; JSON lines with {', '.join(FULL)} "
                      "were expected")  # fmt: skip
    names = " and ".join(path.name for path in paths)
    return tuple(pairs), [f"skipped {count:,} pairs {why} in {names}" for why, count in skipped.items() if why]


def as_pair(row: dict[str, Any], where: str) -> Example | str:
    """The pair in a row, or why it is passed over."""
    names = next((names for names in (FULL, REDUCED) if all(isinstance(row.get(name), str) for name in names)), None)
    if names is None:
        raise BadData(f"{where}: {', '.join(FULL)} or {', '.join(REDUCED)} were expected as strings; "
                      f"there are: {short(', '.join(row), 100)}")  # fmt: skip
    premise, hypothesis, label = (row[name] for name in names)
    if label == UNDECIDED:
        return "without an agreed label"
    if label not in LABELS:
        raise BadData(f"{where}: the label must be {', '.join(LABELS)} or {UNDECIDED}; it is {short(label)}")
    parses = [row.get(f"sentence{i}_binary_parse") for i in (1, 2)]
    if all(isinstance(parse, str) for parse in parses):
        words, pair_words = (parse_words(str(parse)) for parse in parses)
        example = Example(" ".join(words), label, " ".join(pair_words), words, pair_words)
    else:
        example = Example(premise.strip(), label, hypothesis.strip())
    return example if example.text and example.pair else "without words on one side"


def parse_words(parse: str) -> tuple[str, ...]:
    """The words of a binary parse, `( ( Two women ) ( are embracing ) )`, brackets dropped and escapes written out."""
    pieces = (piece for piece in parse.split() if piece not in ("(", ")"))
    return tuple(sys.intern(plain(piece) if "-" in piece or "\\" in piece else piece) for piece in pieces)
