"""The content of a cell: nothing, a list of words, a label."""

import json
import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

MARKS = {"1": True, "true": True, "1.0": True, "0": False, "false": False, "0.0": False}


def missing(cell: Any) -> bool:
    """Whether a cell holds nothing: null, not a number, or blanks."""
    return (
        cell is None or (isinstance(cell, float) and math.isnan(cell)) or (isinstance(cell, str) and not cell.strip())
    )


def as_list(cell: Any) -> tuple[str, ...] | None:
    """A cell as a list of strings: a list, a JSON list, or words with spaces between; None if it is none of these."""
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        with suppress(json.JSONDecodeError):  # words may begin with a bracket, too
            cell = json.loads(cell)
    if isinstance(cell, str):
        return tuple(cell.split())
    if isinstance(cell, list | tuple) and not any(isinstance(part, list | dict) or missing(part) for part in cell):
        return tuple(map(str, cell))
    return None


def as_marks(cell: Any) -> tuple[bool, ...] | None:
    """A cell as a rationale, true or false for each word; None if it is no such list."""
    marks = [MARKS.get(part.lower()) for part in as_list(cell) or ()]
    return tuple(bool(mark) for mark in marks) if marks and None not in marks else None


def as_heads(cell: Any) -> tuple[int, ...] | None:
    """A cell as a tree: the place of each word's head, -1 for the root; None if it is no list of whole numbers.

    Heads may be counted from 1, the root being 0, as in CoNLL-U: so they are read if none is -1.
    """
    try:
        heads = tuple(map(int, as_list(cell) or ()))
    except ValueError:
        return None
    return (heads if -1 in heads else tuple(head - 1 for head in heads)) or None


def as_links(cell: Any) -> tuple[tuple[int, int], ...] | None:
    """A cell as links between words, counted from 0: `0-0 1-2` and so on; None if it is something else."""
    if missing(cell):
        return ()
    try:
        pairs = [tuple(map(int, link.split("-"))) for link in as_list(cell) or ("",)]
        return tuple((i, j) for i, j in pairs)
    except ValueError:
        return None


def as_labels(cells: Sequence[Any]) -> list[str | None]:
    """Labels as strings, null where there is none; whole numbers written as 1.0 become 1 if all labels are such."""
    labels = [None if missing(cell) else str(cell).strip() for cell in cells]
    try:
        numbers = {label: float(label) for label in labels if label is not None}
    except ValueError:
        return labels
    if not all(number.is_integer() for number in numbers.values()):
        return labels
    return [None if label is None else str(int(numbers[label])) for label in labels]


def listed_rows(rows: Sequence[int]) -> str:
    """The numbers of some rows for a message, the first of them if they are many."""
    return ("row " if len(rows) == 1 else "rows ") + ", ".join(map(str, rows[:8])) + (", ..." if len(rows) > 8 else "")


def in_order(labels: Iterable[str]) -> tuple[str, ...]:
    """Labels sorted, by number if all are whole numbers."""
    try:
        return tuple(sorted(labels, key=int))
    except ValueError:
        return tuple(sorted(labels))
