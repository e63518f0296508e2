"""Shards: tables of some of the examples of an experiment, kept until all are there and merged into the whole table."""

import io
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from whence.results.atomic_write import write_bytes
from whence.results.columns import Columns
from whence.results.row_order import RowOrder
from whence.results.store import table_bytes

Range = tuple[int, int]  # from this batch up to that one


def merged(tables: Sequence[pd.DataFrame], order: RowOrder, columns: Columns) -> pd.DataFrame:
    """The table of all examples from those of shards, in the order of their batches: what it would be unsharded."""
    rows = pd.concat(tables, ignore_index=True)
    if order.blocks:
        block = rows.groupby(list(order.blocks), sort=False, dropna=False).ngroup()
        rows = rows.iloc[np.lexsort((rows["example"], block))]
    else:
        rows = rows.sort_values(list(order.sorted_by), kind="stable")
    return columns.table({name: rows[name].tolist() for name in columns.columns})


class ShardFolder:
    """The finished shards of one result: a file for each range of batches."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def of_batches(self, size: int) -> "ShardFolder":
        """The shards that were run in batches of this size."""
        return ShardFolder(self.folder / str(size))

    def copy_doubled(self, other: "ShardFolder", n_batches: int) -> None:
        """Copy all shards to where batches are half as large: so each range has twice the numbers, up to the last."""
        for begin, end in self.finished():
            other.save((2 * begin, min(2 * end, n_batches)), self.load((begin, end)))

    def finished(self) -> list[Range]:
        """The ranges of batches that are there, without those that others cover."""
        found = sorted((_range(path) for path in self.folder.glob("*-*.parquet")), key=lambda one: (one[0], -one[1]))
        chosen: list[Range] = []
        for begin, end in found:
            if not chosen or begin >= chosen[-1][1]:
                chosen.append((begin, end))
        return chosen

    def save(self, batches: Range, table: pd.DataFrame) -> None:
        """Keep the table of a range of batches."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_bytes(self.folder / f"{batches[0]}-{batches[1]}.parquet", table_bytes(table))

    def load(self, batches: Range) -> pd.DataFrame:
        """The table of a range of batches."""
        content = (self.folder / f"{batches[0]}-{batches[1]}.parquet").read_bytes()
        return pd.read_parquet(io.BytesIO(content), engine="pyarrow")

    def delete(self) -> None:
        """Remove all, when the whole table is saved."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _range(path: Path) -> Range:
    begin, _, end = path.stem.partition("-")
    return int(begin), int(end)
