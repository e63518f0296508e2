"""Some rows of a large table, read without holding the others: one pass finds where rows begin, then a few are read."""

import csv
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whence.core.errors import BadData
from whence.data.examples import Corpus
from whence.data.formats.csv_tsv import long_cells, read_separated_lines
from whence.data.formats.table_file import as_object
from whence.data.formats.text import Table
from whence.data.tables.columns import Columns
from whence.data.tables.reader import as_dev, corpus_from
from whence.data.tables.records import separated_records
from whence.data.tables.scan import scan

LARGE = 16 * 2**20  # bytes; smaller tables are read and checked whole
SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
Choose = Callable[[int], Sequence[int]]  # from how many rows a split has to the numbers of those that are wanted
Pick = Callable[[dict[str, int]], str]  # from the number of rows of each split to the split that is wanted


@dataclass(frozen=True)
class Rows:
    """The rows of a large file: the split of each (none if there is no such column), and how to read some of them."""

    n: int
    read: Callable[[Sequence[int]], Table]
    splits: Sequence[str] | None = None
    split_column: str = ""


def is_large(path: Path) -> bool:
    """Whether a file is a table so large that a sample is read without the rest."""
    return path.suffix.lower() in SUFFIXES and path.is_file() and path.stat().st_size > LARGE


def sample_table(path: Path, columns: Columns, pick: Pick, choose: Choose) -> Corpus:
    """The corpus of the chosen rows of one split; `numbers` are those that they have in the whole split.

    Columns are inferred from the chosen rows, and only these are checked.
    """
    rows = _rows(path, columns)
    names, renamed = as_dev(rows.splits) if rows.splits is not None else (None, [])
    counts = {"test": rows.n} if names is None else _counted(names)
    split = pick(counts)
    chosen = list(choose(counts[split]))
    places = chosen if names is None else _places(names, split, chosen)
    table = rows.read(places)
    notes = [f"read {len(chosen)} of the {counts[split]} rows of {split}; the others were not looked at", *renamed]
    notes += [f"took column {rows.split_column!r} as the split"] if rows.splits is not None else []
    table = replace(table, notes=(*table.notes, *notes))
    corpus = corpus_from(table, [split] * len(places), columns, f"the {len(chosen)} sampled rows of {path.name}")
    return replace(corpus, name=path.name, numbers={split: tuple(chosen)})


def _counted(names: Sequence[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return counts


def _places(names: Sequence[str], split: str, chosen: Sequence[int]) -> list[int]:
    """The rows of the file that are the chosen ones of a split."""
    of_split = array("Q", (place for place, name in enumerate(names) if name == split))
    return [of_split[number] for number in chosen]


def _rows(path: Path, columns: Columns) -> Rows:
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return _parquet(path, columns)
    return _json_lines(path, columns) if suffix in (".jsonl", ".ndjson") else _separated(path, columns)


def _is_split(name: str, columns: Columns) -> bool:
    return name.strip().lower() == "split" and name not in columns.named().values()


def _separated(path: Path, columns: Columns) -> Rows:
    """CSV or TSV: where each row begins and ends, which with quotes is not where lines do."""
    tabs = path.suffix.lower() == ".tsv"
    seen: dict[str, str] = {}
    ends: Any = array("Q")  # an empty line belongs to the row after it
    splits: list[str] = []
    with path.open("rb") as file, long_cells():
        first = file.readline().decode("utf-8-sig")
        file.seek(0)
        separator = "\t" if tabs else ";" if ";" in first and "," not in first else ","
        try:
            records = separated_records(file, separator, tabs)
            header = next(records)
            names = [name.removeprefix("\ufeff") for name in header.cells()]
            at = next((place for place, name in enumerate(names) if _is_split(name, columns)), None)
            scanned = scan(path, separator, tabs, len(names), at)
            if scanned is not None:
                ends, splits = scanned.ends[1:], (scanned.column or [])[1:]
            for record in records if scanned is None else ():
                if record.width != len(names):
                    _refuse_width(path, record.line, len(names), record.width, tabs)
                ends.append(record.end)
                if at is not None:
                    name = record.cells()[at]
                    splits.append(seen.setdefault(name, name))
        except (csv.Error, UnicodeDecodeError, StopIteration) as error:
            raise BadData(f"{path} cannot be read ({error}); look for a stray quote, and save it as UTF-8") from error

    def read(places: Sequence[int]) -> Table:
        with path.open("rb") as file:
            begins = [int(ends[n - 1]) if n else header.end for n in places]
            pieces = [
                _piece(file, 0, header.end),
                *(_piece(file, b, int(ends[n])) for b, n in zip(begins, places, strict=True)),
            ]
        return read_separated_lines(path, "".join(pieces).removeprefix("\ufeff"), tabs)

    return Rows(len(ends), read, None if at is None else splits, names[at] if at is not None else "")


def _refuse_width(path: Path, line: int, expected: int, came: int, tabs: bool) -> None:
    hint = "a TSV cell cannot hold a tab or a line break" if tabs else "a cell with a comma needs quotes"
    raise BadData(f"{path}, line {line}: {expected} cells were expected, as in the header; there are {came} ({hint})")


def _piece(file: Any, begin: int, end: int) -> str:
    file.seek(begin)
    text = file.read(end - begin).decode("utf-8")
    return str(text if text.endswith("\n") else f"{text}\n")


def _json_lines(path: Path, columns: Columns) -> Rows:
    """One JSON object a line; a line is parsed now only if it may name its split."""
    begins, ends, splits, named = array("Q"), array("Q"), [], ""
    with path.open("rb") as file:
        at = 0
        for number, line in enumerate(file, start=1):
            if line.strip():
                begins.append(at)
                ends.append(at + len(line))
                if b'"split"' in line.lower():
                    row = as_object(line.decode("utf-8"), f"{path}, line {number}")
                    named = next((name for name in row if _is_split(name, columns)), "") or named
                    splits.append(str(row.get(named, "")))
            at += len(line)
    if named and len(splits) != len(begins):
        raise BadData(f"{path}: column {named!r} (the split) is empty in {len(begins) - len(splits)} rows; fill it")

    def read(places: Sequence[int]) -> Table:
        with path.open("rb") as file:
            rows = [as_object(_piece(file, begins[n], ends[n]), f"{path}, row {n + 1}") for n in places]
        return Table(tuple(dict.fromkeys(name for row in rows for name in row)), rows)

    return Rows(len(begins), read, splits if named else None, named)


def _parquet(path: Path, columns: Columns) -> Rows:
    """Parquet: the split's column alone, then batch after batch, of which the chosen rows are kept."""
    import pyarrow
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise BadData(f"{path} cannot be read as Parquet: {str(error).splitlines()[0]}") from error
    named = next((name for name in file.schema_arrow.names if _is_split(name, columns)), "")
    splits = None
    if named:
        splits = [str(cell) for batch in file.iter_batches(columns=[named]) for cell in batch.column(0).to_pylist()]

    def read(places: Sequence[int]) -> Table:
        found: dict[int, dict[str, Any]] = {}
        wanted, begin = sorted(places), 0
        for batch in file.iter_batches(batch_size=8192):
            here = [place for place in wanted if begin <= place < begin + len(batch)]
            if here:
                taken = batch.take(pyarrow.array([place - begin for place in here])).to_pylist()
                found |= dict(zip(here, taken, strict=True))
            begin += len(batch)
        return Table(tuple(file.schema_arrow.names), [found[place] for place in places])

    return Rows(file.metadata.num_rows, read, splits, named)
