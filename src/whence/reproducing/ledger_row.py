"""The rows of a ledger: one published number each, with ours, its interval and a status."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from whence.measures.intervals import Interval
from whence.reproducing.study import Number, Scale

NOT_LEARNED = "model did not learn"
WIDE = 5  # times the tolerance: a wider interval contains too much to confirm anything
SIGNIFICANT = 0.05  # of a p-value, only the side of this counts
RULE = (
    "*Reproduced*: the published value differs from ours by at most the tolerance stated with its table or figure, or"
    " by at most its own SD, or it lies within our 95 % interval, provided that the interval is at most"
    f" {WIDE} times as wide as the tolerance; in a wider one it is *undecided*. A p-value is reproduced if both are on"
    f" the same side of {SIGNIFICANT} (undecided where those of several seeds are on both), a word (*falls*, *rises*)"
    " if ours is on that side of zero. *Differs*: none of this holds; of a change it is stated by how much our score"
    " starts and ends higher or lower than theirs. *Model did not learn*: its best epoch is no better than the most"
    " frequent class, so nothing is compared. The *finding* is another question: whether our effect is on the same"
    " side of the smallest one of interest as theirs, and falls to chance where theirs does."
)


@dataclass(frozen=True)
class Row:
    """One published number, and ours."""

    where: str
    system: str
    data: str
    quantity: str
    published: float | str | None
    sd: float | None
    ours: float | None
    low: float | None
    high: float | None
    n: int
    seeds: int
    status: str
    why: str = ""
    digits: int = 1
    finding: str = ""
    reason: str = ""


def status_of(number: Number, ours: Interval, scale: Scale, within: float) -> str:
    """The status of our value, given the published number and a tolerance, unless the number has its own."""
    if number.value is None:
        return "control"
    if scale == "quick":
        return "other data"
    if isinstance(number.value, str):
        return _status_of_side(1 if number.side == "above 0" else -1, ours)
    if number.compare == "significance":
        return _status_of_p(number.value, ours)
    return _status_of_value(number.value, ours, number.sd or 0.0, within if number.within is None else number.within)


def _status_of_value(published: float, ours: Interval, sd: float, within: float) -> str:
    if abs(published - ours.mean) <= max(within, sd):
        return "reproduced"
    if not ours.low <= published <= ours.high:
        return "differs"
    return "reproduced" if ours.high - ours.low <= WIDE * within else "undecided"


def _status_of_p(published: float, ours: Interval) -> str:
    """Whether a p-value is on the published side of 0.05; the interval spans those of all seeds."""
    sides = {end < SIGNIFICANT for end in (ours.mean, ours.low, ours.high) if not math.isnan(end)}
    if len(sides) > 1:
        return "undecided"
    return "reproduced" if sides == {published < SIGNIFICANT} else "differs"


def _status_of_side(side: int, ours: Interval) -> str:
    """Whether ours lies on a side of zero: the whole interval must, if there is one."""
    sides = {math.copysign(1, end) for end in (ours.mean, ours.low, ours.high) if not math.isnan(end)}
    if len(sides) > 1:
        return "undecided"
    return "reproduced" if sides == {side} else "differs"


def not_run(needs: str) -> dict[str, Any]:
    """Our fields of a row whose number was not measured."""
    return {"ours": None, "low": None, "high": None, "n": 0, "seeds": 0, "status": f"not run: needs {needs or 'time'}"}


def interval_fields(ours: Interval) -> dict[str, Any]:
    """Our value and its interval, if it has one, as fields of a row."""
    low, high = (None if math.isnan(end) else end for end in (ours.low, ours.high))
    return {"ours": ours.mean, "low": low, "high": high}


def to_table(rows: Sequence[Row]) -> pd.DataFrame:
    """Rows as a table."""
    return pd.DataFrame([vars(row) for row in rows], columns=list(Row.__annotations__))


def from_table(table: pd.DataFrame) -> list[Row]:
    """The rows of a table."""
    records: Any = table.astype(object).where(table.notna(), None).to_dict("records")
    return [Row(**record) for record in records]


def format_rows(rows: Sequence[Row]) -> str:
    """Rows as aligned text for a terminal."""
    header = ["", "published", "ours", "interval", "status", "finding"]
    cells = [[f"{row.where}  {row.system}  {row.data}  {row.quantity}", *format_cells(row)] for row in rows]
    widths = [max(len(line[i]) for line in (header, *cells)) for i in range(len(header))]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in (header, *cells)
    )
    return "\n".join(line.rstrip() for line in lines)


def format_cells(row: Row) -> list[str]:
    """The published value, ours, its interval, the status with what is known of its reason, and the finding."""
    values = format_value(row.published, row.sd, row.digits), format_value(row.ours, digits=row.digits)
    status = f"{row.status} ({row.reason})" if row.reason else row.status
    return [*values, _format_interval(row), status, row.finding]


def format_value(value: float | str | None, sd: float | None = None, digits: int = 1) -> str:
    """A number with its SD, if it has one; nothing for None."""
    if isinstance(value, str):
        return value
    return "" if value is None else f"{value:.{digits}f}" + ("" if sd is None else f" ± {sd:.{digits}f}")


def _format_interval(row: Row) -> str:
    if row.low is None or row.high is None:
        return ""
    return f"{format_value(row.low, None, row.digits)} to {format_value(row.high, None, row.digits)}"
