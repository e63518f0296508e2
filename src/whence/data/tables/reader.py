"""The user's own tables: CSV, TSV, JSON lines, Parquet or CoNLL-U, one example a row."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whence.core.errors import BadData
from whence.data.examples import Corpus, Example
from whence.data.formats.table_file import read_file
from whence.data.formats.text import Table
from whence.data.tables.cells import as_heads, as_labels, as_links, as_list, as_marks, in_order, listed_rows, missing
from whence.data.tables.columns import Columns, infer_columns

__all__ = ["Columns", "corpus_from", "read_table"]
DEV = ("validation", "valid", "val")


def read_table(path: str | Path, columns: Columns | None = None) -> Corpus:
    """The corpus in a table; a column `split` makes splits, otherwise all rows are the split `test`.

    No row is dropped. What was inferred is in the notes of the corpus.
    """
    path = Path(path)
    table = read_file(path)
    splits, notes = ["test"] * len(table.rows), list(table.notes)
    for name in table.columns:
        if name.strip().lower() == "split" and name not in (columns or Columns()).named().values():
            splits = [str(cell) for cell in whole_column(table, name, "split", str(path))]
            notes.append(f"took column {name!r} as the split")
            break
    return corpus_from(Table(table.columns, table.rows, tuple(notes)), splits, columns or Columns(), path.name)


def corpus_from(table: Table, splits: Sequence[str], columns: Columns, name: str) -> Corpus:
    """A corpus from rows, with the split of each in `splits`: the one way from cells to examples."""
    columns, inferred = infer_columns(table, columns, name)
    splits, renamed = as_dev(splits)
    reading = Reading(table, columns, name)
    examples = reading.examples()
    held: dict[str, list[Example]] = {split: [] for split in splits}
    for split, example in zip(splits, examples, strict=True):
        held[split].append(example)
    labels = {e.label for e in examples if e.label is not None} or {tag for e in examples for tag in e.tags or ()}
    notes = (*table.notes, *renamed, *inferred, *reading.notes(examples))
    return Corpus(name, {split: tuple(those) for split, those in held.items()}, in_order(labels), notes=notes)


def as_dev(splits: Sequence[str]) -> tuple[Sequence[str], list[str]]:
    """The splits, with validation renamed to dev, as in all other corpora; and a note if it was."""
    called = next((name for name in dict.fromkeys(splits) if name.strip().lower() in DEV), None)
    if called is None or "dev" in splits:
        return splits, []
    return ["dev" if name == called else name for name in splits], [f"took the split {called!r} as dev"]


@dataclass(frozen=True)
class Reading:
    """A table with its columns known, to be turned into examples."""

    table: Table
    columns: Columns
    name: str

    def examples(self) -> list[Example]:
        """One example for each row."""
        columns: dict[str, Sequence[Any]] = {"words": self.lists("tokens")} if self.columns.tokens else {}
        columns |= {role: self.lists(role) for role in ("tags", "relations", "features") if getattr(self.columns, role)}
        columns |= {"rationale": self.marks()} if self.columns.rationale else {}
        columns |= {"heads": self.trees()} if self.columns.heads else {}
        columns |= {"alignment": self.links()} if self.columns.alignment else {}
        columns |= {role: self.strings(role) for role in ("text", "pair", "target") if getattr(self.columns, role)}
        if self.columns.label:
            columns["label"] = as_labels([row.get(self.columns.label) for row in self.table.rows])
        marked = {"tags", "rationale", "heads", "relations", "features", "alignment"}
        if "words" not in columns and marked & columns.keys():
            columns["words"] = [tuple(text.split()) for text in columns["text"]]
        if "words" in columns:
            columns["text"] = [" ".join(words) for words in columns["words"]]
        rows = zip(*columns.values(), strict=True)
        return [self.example(number, dict(zip(columns, row, strict=True))) for number, row in enumerate(rows, start=1)]

    def example(self, number: int, parts: dict[str, Any]) -> Example:
        """The example of a row; errors about its rationale or tags name the row."""
        try:
            return Example(**parts)
        except BadData as error:
            raise BadData(f"{self.name}, row {number}: {error}") from error

    def strings(self, role: str) -> list[str]:
        """The cells of a column of texts."""
        return whole_column(self.table, getattr(self.columns, role), role, self.name)

    def lists(self, role: str) -> list[tuple[str, ...]]:
        """The cells of a column of lists, one string for each word."""
        column = getattr(self.columns, role)
        read = [as_list(row.get(column)) for row in self.table.rows]
        refuse(read, lambda cell: not cell, f"{self.name}: column {column!r} (the {role}) has no list")
        return [cell or () for cell in read]

    def marks(self) -> list[tuple[bool, ...]]:
        """The cells of the column of rationales, true or false for each word."""
        column = self.columns.rationale
        read = [as_marks(cell) for cell in self.lists("rationale")]
        wanted = f"{self.name}: column {column!r} must hold 0 or 1 (false or true) for each word; got something else"
        refuse(read, lambda cell: cell is None, wanted)
        return [cell or () for cell in read]

    def trees(self) -> list[tuple[int, ...]]:
        """The cells of the column of heads."""
        column = self.columns.heads
        read = [as_heads(cell) for cell in self.lists("heads")]
        wanted = f"{self.name}: column {column!r} must hold each word's head as a number; got something else"
        refuse(read, lambda cell: cell is None, wanted)
        return [cell or () for cell in read]

    def links(self) -> list[tuple[tuple[int, int], ...]]:
        """The cells of the column of links between words."""
        column = self.columns.alignment
        read = [as_links(row.get(column)) for row in self.table.rows]  # type: ignore[arg-type]
        wanted = f"{self.name}: column {column!r} must hold links like 0-0 1-2; got something else"
        refuse(read, lambda cell: cell is None, wanted)
        return [cell or () for cell in read]

    def notes(self, examples: Sequence[Example]) -> list[str]:
        """Sentences on what was done to the rows."""
        notes = []
        unlabelled = [number for number, example in enumerate(examples, start=1) if example.label is None]
        if self.columns.label and unlabelled:
            which = f"({listed_rows(unlabelled)}, header not counted)"
            notes.append(f"{len(unlabelled)} of {len(examples)} rows have no label {which}; they are kept without one")
        roles = ("tags", "rationale", "heads", "relations", "alignment")
        marked = [getattr(self.columns, role) for role in roles]
        if not self.columns.tokens and any(marked):
            notes.append("split the texts into words at spaces, since there are marks for words and no column of words")
        return notes


def whole_column(table: Table, column: str, role: str, where: str) -> list[str]:
    """The cells of a column that must hold a string that is not blank in every row."""
    cells = [row.get(column) for row in table.rows]
    refuse(cells, missing, f"{where}: column {column!r} (the {role}) is empty")
    refuse(
        cells,
        lambda cell: not isinstance(cell, str),
        f"{where}: column {column!r} (the {role}) must hold strings; got something else",
    )
    return cells  # type: ignore[return-value]


def refuse(cells: Sequence[Any], wrong: Callable[[Any], bool], sentence: str) -> None:
    """Raise if a cell is wrong, saying how many are and in which rows, counted from 1 below the header."""
    rows = [number for number, cell in enumerate(cells, start=1) if wrong(cell)]
    if rows:
        mend = "fill or remove " + ("it" if len(rows) == 1 else "them")
        raise BadData(
            f"{sentence} in {len(rows)} of {len(cells)} rows ({listed_rows(rows)}, header not counted); {mend}"
        )
