"""Where a difference from a published change comes from: from where the score starts, or from where it ends.

    ours − theirs = (our end − their end) − (our start − their start)

A model that starts higher has more to lose; one that ends elsewhere differs in what it does without its attention.
"""

from collections.abc import Sequence
from dataclasses import replace

from whence.reproducing.ledger_row import Row
from whence.reproducing.study import FigureSpec


def with_reasons(rows: Sequence[Row], figure: FigureSpec) -> list[Row]:
    """The rows of a figure on a case, those that differ with the two parts of the difference."""
    start = next((row for row in rows if row.quantity in figure.levels), None)
    if start is None:
        return list(rows)
    return [replace(row, reason=reason(row, start)) if row.quantity not in figure.levels else row for row in rows]


def reason(row: Row, start: Row) -> str:
    """The two parts of the difference of a change, in words; nothing where nothing differs."""
    values = (row.published, row.ours, start.published, start.ours)
    if row.status not in ("differs", "undecided") or not all(isinstance(value, int | float) for value in values):
        return ""
    theirs, ours, their_start, our_start = (float(value) for value in values if not isinstance(value, str | None))
    higher = our_start - their_start
    parts = (("starts", higher), ("ends", higher + ours - theirs))
    return ", ".join(f"{word} {abs(by):.{row.digits}f} {'higher' if by >= 0 else 'lower'}" for word, by in parts)
