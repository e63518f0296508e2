"""Whether the paper's finding holds, whatever its number: the side of the smallest effect, and falling to chance.

A model that was trained on fewer texts cannot lose as many points as the paper's: its number differs, and yet the
finding, that it loses much, or nothing, or all it had, may be the same.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from whence.measures.intervals import Interval
from whence.reproducing.ledger_row import Row
from whence.reproducing.study import Case, FigureSpec

Finding = Literal["holds", "does not hold", "undecided", ""]
SIDES = {"reproduced": "holds", "differs": "does not hold", "undecided": "undecided"}  # where only a side counts
NEAR = 2.0  # points from chance that count as chance


def finding_of(published: float, ours: Interval, smallest: float) -> Finding:
    """An effect is on one side of the smallest one of interest: below −smallest, above it, or between them.

    It holds if our whole interval is on the published side, does not if no part of it is; else it is undecided.
    """
    sides = {_side(end, smallest) for end in (ours.mean, ours.low, ours.high) if not math.isnan(end)}
    if not sides:
        return "undecided"
    theirs = _side(published, smallest)
    return "holds" if sides == {theirs} else "does not hold" if theirs not in sides else "undecided"


def _side(value: float, smallest: float) -> int:
    return (value >= smallest) - (value <= -smallest)


def falls_to_chance(base: float, change: float, chance: float) -> bool:
    """Whether a score that changes by so many points ends at chance, or below."""
    return base + change <= chance + NEAR


def finding_of_fall(theirs: bool, ours: bool, otherwise: Finding) -> Finding:
    """Where the paper's model falls to chance ours must too, however many points that takes; else its side decides."""
    if not theirs:
        return otherwise
    return "holds" if ours else "does not hold"


def with_findings(rows: Sequence[Row], figure: FigureSpec, case: Case, chance: float | None) -> list[Row]:
    """The rows of a figure on a case, with whether the paper's finding holds: where numbers are effects, and where only
    the side of a word or of a p-value counts. `chance` is the score of the most frequent class, in per cent.
    """
    sided = {number.quantity for number in figure.numbers_of(case.name) if number.side or number.compare != "value"}
    base = next((row for row in rows if row.quantity in figure.levels), None)
    found = []
    for row in rows:
        finding: str = SIDES.get(row.status, "") if row.quantity in sided else ""
        if figure.smallest and row.quantity not in figure.levels:
            finding = finding or _of_effect(row, base, chance, figure.smallest)
        found.append(replace(row, finding=finding))
    return found


def _of_effect(row: Row, base: Row | None, chance: float | None, smallest: float) -> Finding:
    if row.ours is None or not isinstance(row.published, int | float):
        return ""
    low, high = (math.nan if end is None else end for end in (row.low, row.high))
    finding = finding_of(row.published, Interval(row.ours, low, high), smallest)
    if base is None or base.ours is None or chance is None or not isinstance(base.published, int | float):
        return finding
    theirs = falls_to_chance(base.published, row.published, chance)
    return finding_of_fall(theirs, falls_to_chance(base.ours, row.ours, chance), finding)
