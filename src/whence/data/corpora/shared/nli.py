"""Pairs for natural language inference as JSON lines, the form that SNLI and MultiNLI share."""

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from whence.core.errors import BadData
from whence.data.corpora.sst import unescape
from whence.data.examples import Example
from whence.data.formats.table_file import as_object
from whence.data.formats.text import each_line, short
from whence.data.syntax.head_rules import dependencies

LABELS = ("entailment", "neutral", "contradiction")
UNDECIDED = "-"  # the annotators did not agree
FULL = ("sentence1", "sentence2", "gold_label")
REDUCED = ("premise", "hypothesis", "label")


def read_pairs(paths: list[Path], scheme: str = "") -> tuple[tuple[Example, ...], list[str]]:
    """The pairs of some files that have a label and words on both sides, and sentences on those that have not.

    The premise is the text, the hypothesis the pair. Words are those of the binary parses, where a file has them. With
    a scheme of `data/head_rules.py` both get dependency trees, made of the parses, which must then be there.
    """
    skipped: Counter[str] = Counter()
    pairs = []
    for path in paths:
        for number, line in each_line(path):
            if line.strip():
                row, where = as_object(line, f"{path}, line {number}"), f"{path}, line {number}"
                read = as_pair(row, where)
                read = with_trees(read, row, where, scheme) if scheme and isinstance(read, Example) else read
                skipped[read if isinstance(read, str) else ""] += 1
                pairs += [] if isinstance(read, str) else [read]
    if not pairs:
        raise BadData(
            f"{', '.join(map(str, paths))} holds no labelled pairs; JSON lines with {', '.join(FULL)} were expected"
        )
    names = " and ".join(path.name for path in paths)
    return tuple(pairs), [f"skipped {count:,} pairs {why} in {names}" for why, count in skipped.items() if why]


def as_pair(row: dict[str, Any], where: str) -> Example | str:
    """The pair in a row, or why it is skipped."""
    names = next((names for names in (FULL, REDUCED) if all(isinstance(row.get(name), str) for name in names)), None)
    if names is None:
        raise BadData(
            f"{where}: {', '.join(FULL)} or {', '.join(REDUCED)} were expected as strings; "
            f"there are: {short(', '.join(row), 100)}"
        )
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


def with_trees(pair: Example, row: dict[str, Any], where: str, scheme: str) -> Example:
    """A pair with the dependency trees of its parses."""
    trees = []
    for i, words in enumerate((pair.words, pair.pair_words), start=1):
        parse = row.get(f"sentence{i}_parse")
        if not isinstance(parse, str) or words is None:
            raise BadData(
                f"{where}: sentence{i}_parse and sentence{i}_binary_parse were expected; this copy has no "
                "parses: get the official one, or read the corpus without trees"
            )
        try:
            leaves, heads = dependencies(parse, scheme)
        except ValueError as error:
            raise BadData(f"{where}: sentence{i}_parse cannot be read: {error}; it is {short(parse, 60)}") from error
        if len(leaves) != len(words):
            raise BadData(f"{where}: sentence{i}_parse has {len(leaves)} words, its binary parse {len(words)}")
        trees.append(heads)
    return replace(pair, heads=trees[0], pair_heads=trees[1])


def parse_words(parse: str) -> tuple[str, ...]:
    """The words of a binary parse, `( ( Two women ) ( are embracing ) )`, brackets dropped and escapes written out."""
    pieces = (piece for piece in parse.split() if piece not in ("(", ")"))
    return tuple(sys.intern(unescape(piece) if "-" in piece or "\\" in piece else piece) for piece in pieces)
