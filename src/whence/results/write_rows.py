"""Tables written part by part: Parquet, CSV or JSON lines, by the file's ending. A file is whole or not there."""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pandas as pd

ENDINGS = (".parquet", ".csv", ".jsonl")


def write_rows(path: Path, parts: Iterable[tuple[pd.DataFrame, Mapping[str, str]]]) -> int:
    """Write tables one after another into one file, and return how many rows it has.

    What comes with the first table is kept in the metadata of a Parquet file, under `whence`.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    write = {".parquet": _parquet, ".csv": _csv, ".jsonl": _json_lines}[path.suffix.lower()]
    try:
        rows = write(temporary, parts)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return rows


def _parquet(path: Path, parts: Iterable[tuple[pd.DataFrame, Mapping[str, str]]]) -> int:
    import pyarrow
    from pyarrow import parquet

    writer, rows = None, 0
    try:
        for frame, about in parts:
            table = pyarrow.Table.from_pandas(frame, preserve_index=False)
            if writer is None:
                kept = {**(table.schema.metadata or {}), b"whence": json.dumps(dict(about)).encode()}
                writer = parquet.ParquetWriter(path, table.schema.with_metadata(kept), compression="zstd")
            writer.write_table(table.cast(writer.schema))
            rows += len(frame)
    finally:
        if writer is not None:
            writer.close()
    return rows


def _csv(path: Path, parts: Iterable[tuple[pd.DataFrame, Mapping[str, str]]]) -> int:
    return _lines(path, parts, lambda frame, first: frame.to_csv(index=False, header=first, lineterminator="\n"))


def _json_lines(path: Path, parts: Iterable[tuple[pd.DataFrame, Mapping[str, str]]]) -> int:
    return _lines(path, parts, lambda frame, _: frame.to_json(orient="records", lines=True, force_ascii=False))


def _lines(
    path: Path,
    parts: Iterable[tuple[pd.DataFrame, Mapping[str, str]]],
    written: Callable[[pd.DataFrame, bool], str],
) -> int:
    rows = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        for number, (frame, _) in enumerate(parts):
            file.write(written(frame, number == 0))
            rows += len(frame)
    return rows
