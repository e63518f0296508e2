"""The lines of a ledger: one published number each, with ours, its interval and a status."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from whence.measures.bootstrap import Interval
from whence.reproducing.study import Scale

WITHIN = 2.0  # points: what is nearer counts as the same
WIDE = 5  # times that: an interval that is wider holds too much to agree with anything
SIGNIFICANT = 0.05  # of a p, what counts is on which side of this it lies
SIDES = {"falls": -1, "rises": 1, "true above random": 1}  # of zero, where a word was published
RULE = (
    "*Reproduced*: the published value is as near to ours as is said beside it"
    f" ({WITHIN:g} points where nothing is said), or as its own spread, or it lies within our 95 % interval, if that is"
    f" no wider than {WIDE} times that; within a wider one it is *undecided*. A p is reproduced where both lie on one"
    f" side of {SIGNIFICANT}, a word (*falls*, *rises*) where ours lies on that side of zero. *Differs*: it does not;"
    " what is known of the cause stands beside it."
)


@dataclass(frozen=True)
class Line:
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


def stated(
    published: float | None, ours: Interval, scale: Scale, sd: float | None = None, within: float = WITHIN
) -> str:
    """The status of a number, given the published one, its spread and how near is near enough."""
    if published is None:
        return "control"
    if scale == "quick":
        return "other data"
    if abs(published - ours.mean) <= max(within, sd or 0.0):
        return "reproduced"
    if not ours.low <= published <= ours.high:
        return "differs"
    return "reproduced" if ours.high - ours.low <= WIDE * within else "undecided"


def stated_of_p(published: float, ours: Interval, scale: Scale) -> str:
    """The status of a p: whether both say the same."""
    if scale == "quick":
        return "other data"
    return "reproduced" if (published < SIGNIFICANT) == (ours.mean < SIGNIFICANT) else "differs"


def stated_of_word(published: str, ours: Interval, scale: Scale) -> str:
    """The status of a word that says on which side of zero a number lies: the whole interval, if there is one, must."""
    if scale == "quick":
        return "other data"
    sides = {math.copysign(1, end) for end in (ours.mean, ours.low, ours.high) if not math.isnan(end)}
    if len(sides) > 1:
        return "undecided"
    return "reproduced" if sides == {SIDES[published]} else "differs"


def not_run(needs: str) -> dict[str, Any]:
    """What a line holds of ours, where there is nothing."""
    return {"ours": None, "low": None, "high": None, "n": 0, "seeds": 0, "status": f"not run: needs {needs or 'time'}"}


def found_of(ours: Interval) -> dict[str, Any]:
    """What a line holds of a number that was found; some have no interval."""
    low, high = (None if math.isnan(end) else end for end in (ours.low, ours.high))
    return {"ours": ours.mean, "low": low, "high": high}


def as_table(lines: Sequence[Line]) -> pd.DataFrame:
    """The lines as a table."""
    return pd.DataFrame([vars(line) for line in lines], columns=list(Line.__annotations__))


def as_lines(table: pd.DataFrame) -> list[Line]:
    """The lines that a table holds."""
    rows: Any = table.astype(object).where(table.notna(), None).to_dict("records")
    return [Line(**row) for row in rows]


def as_text(lines: Sequence[Line]) -> str:
    """The lines for a screen."""
    header = ["", "published", "ours", "interval", "status"]
    rows = [[f"{line.where}  {line.system}  {line.data}  {line.quantity}", number(line.published, line.sd, line.digits),
             number(line.ours, digits=line.digits), spread(line), line.status] for line in lines]  # fmt: skip
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
                     for row in (header, *rows))  # fmt: skip


def number(value: float | str | None, sd: float | None = None, digits: int = 1) -> str:
    """A number with its spread, if it is there."""
    if isinstance(value, str):
        return value
    return "" if value is None else f"{value:.{digits}f}" + ("" if sd is None else f" ± {sd:.{digits}f}")


def spread(line: Line) -> str:
    """An interval in words."""
    return (
        ""
        if line.low is None or line.high is None
        else f"{number(line.low, None, line.digits)} to {number(line.high, None, line.digits)}"
    )
