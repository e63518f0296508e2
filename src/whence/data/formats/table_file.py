"""From a file to its table, by its suffix: CSV, TSV, JSON lines, Parquet or CoNLL-U."""

import json
from pathlib import Path
from typing import Any

from whence.core.errors import BadData
from whence.core.unicode import refuse_surrogates
from whence.data.formats.conllu import as_table
from whence.data.formats.csv_tsv import read_separated
from whence.data.formats.text import Table, read_text, short

SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".conllu")


def read_file(path: Path) -> Table:
    """The table in a file, by its suffix; text formats may be gzipped."""
    packed = path.suffix.lower() == ".gz"
    suffix = (path.with_suffix("") if packed else path).suffix.lower()
    if suffix not in SUFFIXES or (packed and suffix == ".parquet"):
        known = ", ".join(SUFFIXES)
        raise BadData(f"{path} is of no known format; a table ends in one of {known} (text formats also with .gz)")
    if suffix == ".parquet":
        table = read_parquet(path)
    elif suffix in (".jsonl", ".ndjson"):
        table = read_json_lines(path)
    elif suffix == ".conllu":
        table = as_table(path)
    else:
        table = read_separated(path, tabs=suffix == ".tsv")
    if not table.rows:
        raise BadData(
            f"{path} has a header ({', '.join(map(short, table.columns))}) but no rows; there is nothing to read"
        )
    return table


def read_json_lines(path: Path) -> Table:
    """One JSON object a line; empty lines are skipped."""
    rows, columns = [], dict[str, None]()
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            rows.append(as_object(line, f"{path}, line {number}"))
            columns.update(dict.fromkeys(rows[-1]))
    return Table(tuple(columns), rows)


def as_object(line: str, where: str) -> dict[str, Any]:
    """The JSON object on a line."""
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadData(
            f"{where}: not JSON ({error.msg} at character {error.colno}); each line must be one JSON object"
        ) from error
    if not isinstance(row, dict):
        raise BadData(f"{where}: a JSON object was expected; got {short(line)}")
    if "\\u" in line:  # nothing else can spell half a surrogate pair
        refuse_surrogates(json.dumps(row, ensure_ascii=False), where)
    return row


def read_parquet(path: Path) -> Table:
    """A Parquet file as plain Python values."""
    import pyarrow
    from pyarrow import parquet

    if not path.exists():
        raise BadData(f"there is no file {path}; check the spelling and the working folder")
    try:
        table = parquet.read_table(path)
        return Table(tuple(table.column_names), table.to_pylist())
    except UnicodeDecodeError as error:
        raise BadData(f"{path} holds a string that is not UTF-8 ({error}); write its texts as UTF-8") from error
    except (pyarrow.ArrowException, OSError) as error:
        raise BadData(f"{path} cannot be read as Parquet: {str(error).splitlines()[0]}") from error
