"""Ours compared with theirs: every published number of a study with our value, its interval and a status."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from whence.measures.bootstrap import Interval
from whence.reproducing.ledger_row import Row, interval_fields, not_run, status_of, to_table
from whence.reproducing.study import Case, FigureSpec, Number, Scale, Study
from whence.results.experiment import experiment
from whence.results.result import Result


class FigureResult(NamedTuple):
    """The result of a figure's experiment on the model of one case and seed."""

    figure: FigureSpec
    case: Case
    result: Result


def ledger_table(study: Study, scale: Scale, results: Sequence[FigureResult]) -> pd.DataFrame:
    """Every published number of the figures, and those of controls: one row each."""
    by_case: dict[tuple[str, str], list[Result]] = {}
    for figure, case, result in results:
        by_case.setdefault((figure.name, case.name), []).append(result)
    rows = []
    for figure in study.figure:
        for case in study.case:
            if case.name in figure.cases:
                rows += rows_of(figure, case, by_case.get((figure.name, case.name), []), scale)
    return to_table(rows)


def rows_of(figure: FigureSpec, case: Case, results: Sequence[Result], scale: Scale) -> list[Row]:
    """The numbers of a figure on a case: ours, from the models of one or several seeds, and the published ones."""
    if not figure.number and not figure.published:
        return []
    each = [experiment(figure.experiment).quantities(result.table) for result in results]
    rows = []
    for number in _numbers(figure, case, each):
        ours = [quantities[number.quantity] for quantities in each if number.quantity in quantities]
        rows.append(_row(number, figure, case, ours, results, scale))
    return rows


def _numbers(figure: FigureSpec, case: Case, each: Sequence[Mapping[str, Interval]]) -> list[Number]:
    """The published numbers. Where each case has its own: first those that were measured, and of a control all."""
    published = figure.numbers_of(case.name)
    if not figure.published:
        return list(published)
    by_quantity = {number.quantity: number for number in published}
    measured = dict.fromkeys(quantity for quantities in each for quantity in quantities)
    return [by_quantity.get(quantity, Number(quantity=quantity)) for quantity in (measured | by_quantity)]


def _row(
    number: Number,
    figure: FigureSpec,
    case: Case,
    each: Sequence[Interval],
    results: Sequence[Result],
    scale: Scale,
) -> Row:
    system = f"{number.system or case.system}{f', {case.mode}' if case.mode else ''}"
    theirs: dict[str, Any] = {
        "where": number.where or figure.name,
        "system": system,
        "data": case.data,
        "quantity": number.quantity,
        "published": number.value,
        "sd": number.sd,
        "digits": figure.digits,
    }
    if not each:
        return Row(**theirs, **not_run(case.needs))
    ours = mean_over_seeds(each)
    status = status_of(number, ours, scale, figure.within)
    why = _why(status, figure, case)
    if number.corrected and status != "other data":
        status, why = "corrected", number.corrected
    n = results[0].manifest["corpus"]["n"]
    return Row(**theirs, **interval_fields(ours), n=n, seeds=_n_seeds(results), status=status, why=why)


def _why(status: str, figure: FigureSpec, case: Case) -> str:
    """What is known of a difference, or of a case that is a control."""
    if status in ("differs", "undecided"):
        return figure.why or case.why
    return case.why if figure.is_control(case.name) else ""


def _n_seeds(results: Sequence[Result]) -> int:
    return max(len(results), *(result.table["seed"].nunique() if "seed" in result.table else 1 for result in results))


def mean_over_seeds(each: Sequence[Interval]) -> Interval:
    """The mean of the models' numbers. Its interval spans all of theirs, or the numbers where those have none."""
    ends = [end for one in each for end in (one.low, one.high) if not math.isnan(end)]
    if not ends and len(each) > 1:
        ends = [one.mean for one in each]
    return Interval(sum(one.mean for one in each) / len(each), min(ends, default=math.nan), max(ends, default=math.nan))
