"""Ours compared with theirs: every published number of a study with our value, its interval and two statuses."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from whence.measures.intervals import Interval
from whence.reproducing.finding import with_findings
from whence.reproducing.ledger_row import NOT_LEARNED, Row, interval_fields, not_run, status_of, to_table
from whence.reproducing.measured import Earlier, FigureResult, Measured, measured, with_mode
from whence.reproducing.reason import with_reasons
from whence.reproducing.study import Case, FigureSpec, Number, Scale, Study
from whence.results.result import Result


def ledger_table(
    study: Study, scale: Scale, results: Sequence[FigureResult], earlier: Earlier | None = None
) -> pd.DataFrame:
    """Every published number of the figures, and those of controls: one row each. What was not run has the numbers of
    earlier runs, if there are some.
    """
    by_case: dict[tuple[str, str], list[FigureResult]] = {}
    for one in results:
        by_case.setdefault((one.figure.name, one.case.name), []).append(one)
    rows = []
    for figure in study.figure:
        for case in (case for case in study.case if case.name in figure.cases):
            mine = by_case.get((figure.name, case.name), [])
            found = measured(figure, [one.result for one in mine], all(one.learned for one in mine))
            rows += rows_of(figure, case, found if mine or not earlier else earlier.measured(figure, case), scale)
    return to_table(rows)


def rows_of(figure: FigureSpec, case: Case, found: Measured | Sequence[Result], scale: Scale) -> list[Row]:
    """The numbers of a figure on a case: ours, from the models of one or several seeds, and the published ones."""
    if not figure.number and not figure.published:
        return []
    found = found if isinstance(found, Measured) else measured(figure, found)
    rows = [_row(number, figure, case, found, scale) for number in _numbers(figure, case, found.each)]
    if not found.learned or scale != "full":
        return rows
    return with_reasons(with_findings(rows, figure, case, found.chance), figure)


def _numbers(figure: FigureSpec, case: Case, each: Sequence[Mapping[str, Interval]]) -> list[Number]:
    """The published numbers. Where each case has its own: first those that were measured, and of a control all."""
    published = figure.numbers_of(case.name)
    if not figure.published:
        return list(published)
    by_quantity = {number.quantity: number for number in published}
    known = dict.fromkeys(quantity for quantities in each for quantity in quantities)
    return [by_quantity.get(quantity, Number(quantity=quantity)) for quantity in (known | by_quantity)]


def _row(number: Number, figure: FigureSpec, case: Case, found: Measured, scale: Scale) -> Row:
    theirs: dict[str, Any] = {
        "where": number.where or figure.name,
        "system": with_mode(number.system or case.system, case),
        "data": case.data,
        "quantity": number.quantity,
        "published": number.value,
        "sd": number.sd,
        "digits": figure.digits,
    }
    each = found.of(number.quantity)
    if not each:
        return Row(**theirs, **not_run(figure.needs or case.needs))
    ours = mean_over_seeds(each)
    status = status_of(number, ours, scale, figure.within)
    why = _why(status, figure, case)
    if not found.learned and number.value is not None:
        status, why = NOT_LEARNED, case.why
    elif number.corrected and status != "other data":
        status, why = "corrected", number.corrected
    return Row(**theirs, **interval_fields(ours), n=found.n, seeds=found.seeds, status=status, why=why)


def _why(status: str, figure: FigureSpec, case: Case) -> str:
    """What is known of a difference, or of a case that is a control."""
    if status in ("differs", "undecided"):
        return figure.why or case.why
    return case.why if figure.is_control(case.name) else ""


def mean_over_seeds(each: Sequence[Interval]) -> Interval:
    """The mean of the models' numbers. Its interval spans all of theirs, or the numbers where those have none."""
    ends = [end for one in each for end in (one.low, one.high) if not math.isnan(end)]
    if not ends and len(each) > 1:
        ends = [one.mean for one in each]
    return Interval(sum(one.mean for one in each) / len(each), min(ends, default=math.nan), max(ends, default=math.nan))
