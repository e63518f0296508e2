"""CoNLL-U, the format of Universal Dependencies: ten columns a word, an empty line after each sentence.

https://universaldependencies.org/format.html
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from whence.core.errors import BadData
from whence.data.formats.text import Table, each_line, short
from whence.data.syntax.trees import check_tree

COLUMNS = ("tokens", "upos", "xpos", "head", "deprel", "feats")  # of the table of a file
WIDTH = 10
NOTHING = "_"


class Sentence(NamedTuple):
    """A sentence in words, with their tags (`upos` of all languages, `xpos` of its own) and its tree.

    Words are syntactic ones: of `don't` as a multiword token there are `do` and `n't`, and `joined` counts it. Empty
    nodes, which stand for words that are not written, have no place in the tree; `empty` counts those skipped.
    `features` are a word's part of speech and its morphological features: `UPOS=NOUN|Number=Sing`.
    """

    words: tuple[str, ...]
    upos: tuple[str, ...]
    xpos: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    features: tuple[str, ...]
    joined: int
    empty: int


def read_conllu(path: Path) -> list[Sentence]:
    """All sentences of a file, gunzipped if it ends in .gz."""
    sentences = list(each_sentence(path))
    if not sentences:
        raise BadData(f"{path} holds no sentences; lines of {WIDTH} tab-separated columns were expected (CoNLL-U)")
    return sentences


def each_sentence(path: Path) -> Iterator[Sentence]:
    """The sentences of a file, one at a time; comments are skipped."""
    lines: list[list[str]] = []
    first = 0
    for number, line in each_line(path):
        text = line.removeprefix("\ufeff") if number == 1 else line
        if not text.strip():
            if lines:
                yield as_sentence(lines, f"{path}, line {first}")
            lines = []
        elif not text.startswith("#"):
            first = first if lines else number
            lines.append(as_columns(text, f"{path}, line {number}"))
    if lines:
        yield as_sentence(lines, f"{path}, line {first}")


def as_columns(line: str, where: str) -> list[str]:
    """The ten columns of a line."""
    cells = line.split("\t")
    if len(cells) != WIDTH:
        raise BadData(f"{where}: {WIDTH} columns with tabs between were expected; got {len(cells)}: {short(line, 60)}")
    return cells


def as_sentence(lines: list[list[str]], where: str) -> Sentence:
    """A sentence from its lines: `1` is a word, `1-2` a multiword token, `1.1` an empty node."""
    words = [cells for cells in lines if cells[0].isdecimal()]
    joined, empty = (sum(mark in cells[0] for cells in lines) for mark in "-.")
    other = next((cells[0] for cells in lines if not cells[0].replace("-", "").replace(".", "").isdecimal()), None)
    if other is not None or [int(cells[0]) for cells in words] != list(range(1, len(words) + 1)):
        came = short(other if other is not None else " ".join(cells[0] for cells in words))
        raise BadData(f"{where}: words numbered 1, 2, 3 and so on were expected in the first column; got {came}")
    wrong = next((cells for cells in words if not cells[6].isdecimal()), None)
    if wrong is not None or not words:
        came = f"word {wrong[0]} has {short(wrong[6])}" if wrong else "there are no words"
        raise BadData(f"{where}: the number of its head (column 7) was expected for every word, 0 for the root; {came}")
    heads = tuple(int(cells[6]) - 1 for cells in words)
    try:
        check_tree(heads, len(words))
    except BadData as error:
        raise BadData(f"{where}: no tree (words counted from 0, not from 1): {error}") from error
    forms, upos, xpos, relations = (tuple(cells[i] for cells in words) for i in (1, 3, 4, 7))
    features = tuple(featured(cells[3], cells[5]) for cells in words)
    return Sentence(forms, upos, xpos, heads, relations, features, joined, empty)


def featured(upos: str, feats: str) -> str:
    """A word's part of speech and features in one string; `_` if neither is known."""
    known = [f"UPOS={upos}"] * (upos != NOTHING) + [feats] * (feats != NOTHING)
    return "|".join(known) or NOTHING


def describe_skipped(sentences: list[Sentence]) -> list[str]:
    """Notes on what was skipped."""
    joined, empty = sum(s.joined for s in sentences), sum(s.empty for s in sentences)
    notes = [f"read {joined:,} multiword tokens as the words they are made of"] if joined else []
    return notes + ([f"left {empty:,} empty nodes out"] if empty else [])


def as_table(path: Path) -> Table:
    """A file as a table with a sentence a row; columns that are empty throughout are left out."""
    sentences = read_conllu(path)
    rows: list[dict[str, Any]] = [dict(zip(COLUMNS, sentence[:6], strict=True)) for sentence in sentences]
    for row in rows:
        row["head"] = tuple(head + 1 for head in row["head"])
    used = [name for name in COLUMNS if any(set(row[name]) != {NOTHING} for row in rows)]
    scheme = f"trees as annotated in {path.name} (CoNLL-U)"
    return Table(
        tuple(used), [{name: row[name] for name in used} for row in rows], (scheme, *describe_skipped(sentences))
    )
