"""Declared columns: what a row of a table is, and what each column means."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from whence.core.errors import BadData

_KINDS = {int: "whole numbers", float: "numbers", bool: "true or false", str: "text"}


@dataclass(frozen=True)
class Column:
    """The kind of a column's values (`int`, `float`, `bool` or `str`) and what they mean, in plain words.

    A missing number is NaN and a missing text is None; whole numbers and truth values cannot be missing.
    """

    kind: type
    meaning: str

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise BadData(f"a column holds int, float, bool or str, not {self.kind!r}; choose one of the four")


EXAMPLE = Column(int, "number of the example in its split")
LABEL = Column(str, "the label, where the model predicts one class per text")


class Columns:
    """The columns of a tidy table, in order: `Columns("one row per example", example=Column(int, "number"), ...)`."""

    def __init__(self, what: str, **columns: Column) -> None:
        self.what = what
        self.columns = columns

    def __repr__(self) -> str:
        return f"Columns({self.what!r}: {', '.join(self.columns)})"

    @property
    def meanings(self) -> dict[str, str]:
        """Name to meaning, for manifest and report."""
        return {name: column.meaning for name, column in self.columns.items()}

    def table(self, rows: Iterable[Mapping[str, Any]] | Mapping[str, Any]) -> pd.DataFrame:
        """The table, its columns as declared: from rows, or from one sequence of values for each column."""
        values = self._by_name(rows) if isinstance(rows, Mapping) else self._from_rows(rows)
        return pd.DataFrame({name: _cast(name, column.kind, values[name]) for name, column in self.columns.items()})

    def _by_name(self, rows: Mapping[str, Any]) -> dict[str, list[Any]]:
        self._check(rows, "the table")
        values = {name: list(np.asarray(column, dtype=_holder(column))) for name, column in rows.items()}
        lengths = {name: len(column) for name, column in values.items()}
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{name} {length}" for name, length in lengths.items())
            raise BadData(f"expected columns of equal length, got: {listed}")
        return values

    def _from_rows(self, rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
        values: dict[str, list[Any]] = {name: [] for name in self.columns}
        for number, row in enumerate(rows):
            self._check(row, f"row {number}")
            for name, column in values.items():
                column.append(row[name])
        return values

    def _check(self, names: Iterable[str], where: str) -> None:
        came = list(names)
        missing = [name for name in self.columns if name not in came]
        unknown = [name for name in came if name not in self.columns]
        if missing or unknown:
            wrong = [f"lacks {', '.join(missing)}"] * bool(missing) + [f"has unknown {', '.join(unknown)}"] * bool(
                unknown
            )
            raise BadData(f"{where} {' and '.join(wrong)}; the columns are: {', '.join(self.columns)} ({self.what})")


def rows_from(columns: Mapping[str, Iterable[Any]], **constant: Any) -> list[dict[str, Any]]:
    """The rows of columns of one length; every row has the constants too."""
    return [{**dict(zip(columns, row, strict=True)), **constant} for row in zip(*columns.values(), strict=True)]


def _holder(values: Any) -> Any:
    """Sequences of Python values stay what they are; arrays keep their dtype."""
    return object if isinstance(values, (list, tuple, range, pd.Series)) else None


def _cast(name: str, kind: type, values: Sequence[Any]) -> pd.Series:
    """The values as int64, float64, bool or text; refused where that would change or lose one."""
    plain = [_plain(kind, value) for value in values]
    for number, value in enumerate(plain):
        if not _fits(kind, value):
            raise BadData(
                f"column {name!r} holds {_KINDS[kind]}; row {number} has {value!r}: fix the value or the column"
            )
    if kind is str:
        return pd.Series(plain, dtype=pd.StringDtype(), name=name)
    missing = [float("nan") if value is None else value for value in plain] if kind is float else plain
    return pd.Series(np.array(missing, dtype={int: np.int64, float: np.float64, bool: np.bool_}[kind]), name=name)


def _plain(kind: type, value: Any) -> Any:
    """A Python value; missing values are None, and half a surrogate pair, which no file can hold, is �."""
    value = value.item() if getattr(value, "shape", None) == () else value
    if value is pd.NA or (kind is str and isinstance(value, float) and value != value):
        return None
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def _fits(kind: type, value: Any) -> bool:
    """Whether a plain value may stand in a column of that kind."""
    if kind is str:
        return value is None or isinstance(value, str)
    if kind is bool:
        return isinstance(value, bool)
    if kind is float:
        return value is None or isinstance(value, (int, float))
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
