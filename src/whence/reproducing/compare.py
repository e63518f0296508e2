"""Ours beside theirs: every published number of a study with our value, its interval and a status."""

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from whence.analysis.scores import measured
from whence.experiments.ablation import table_counts
from whence.measures.bootstrap import Interval, interval, paired_bootstrap_of, resampled
from whence.reproducing.ledger_row import Line, as_table, found_of, not_run, stated, stated_of_p, stated_of_word
from whence.reproducing.study import Case, Number, Picture, Published, Scale, Study
from whence.results.experiment import experiment
from whence.results.result import Result

ALTERATIONS = [("uniform", "train+infer"), ("uniform", "infer"), ("random", "train+infer"), ("random", "infer"),
               ("permuted", "infer")]  # fmt: skip
Found = Sequence[tuple[Case | Picture, Case, Result]]


def ledger_table(study: Study, scale: Scale, found: Found) -> pd.DataFrame:
    """Every published number of tables and figures, and those of controls: one row each."""
    results: dict[tuple[str, str], list[Result]] = {}
    for what, case, result in found:
        results.setdefault((what.name, case.name), []).append(result)
    rows = []
    for case in study.case:
        ablated = results.get((case.name, case.name), [])
        if ablated or case.published is not None:
            rows += lines_of(case, ablated[0].table if ablated else None, scale)
    for figure in study.figure:
        for case in study.case:
            if case.name in figure.cases:
                rows += lines_of_figure(figure, case, results.get((figure.name, case.name), []), scale)
    return as_table(rows)


def lines_found(what: Case | Picture, case: Case, result: Result, scale: Scale) -> list[Line]:
    """The lines that one result gives."""
    if isinstance(what, Case):
        return lines_of(case, result.table, scale)
    return lines_of_figure(what, case, [result], scale)


def lines_of_figure(figure: Picture, case: Case, results: Sequence[Result], scale: Scale) -> list[Line]:
    """The numbers that an experiment gives on a case, beside those that were published of it."""
    if not figure.number:
        return []
    each = [experiment(figure.experiment).quantities(result.table) for result in results]
    return [
        _measured(number, figure, case, [ours[number.quantity] for ours in each if number.quantity in ours], results,
                  scale) for number in figure.number
    ]  # fmt: skip


def _measured(
    number: Number, figure: Picture, case: Case, each: Sequence[Interval], results: Sequence[Result], scale: Scale
) -> Line:
    system = f"{number.system or case.system}{f', {case.mode}' if case.mode else ''}"
    said: dict[str, Any] = {
        "where": number.where or figure.name, "system": system,
        "data": case.data, "quantity": number.quantity, "published": number.value, "sd": number.sd,
        "digits": figure.digits,
    }  # fmt: skip
    if not each:
        return Line(**said, **not_run(case.needs))
    ours = over_seeds(each)
    if isinstance(number.value, str):
        status = stated_of_word(number.value, ours, scale)
    elif number.quantity.startswith("p of") and number.value is not None:
        status = stated_of_p(number.value, ours, scale)
    else:
        status = stated(number.value, ours, scale, number.sd, figure.within)
    seeds = max(len(results), *(result.table["seed"].nunique() if "seed" in result.table else 1 for result in results))
    why = figure.why if status in ("differs", "undecided") else ""
    if number.corrected and status != "other data":
        status, why = "corrected", number.corrected
    n = results[0].manifest["corpus"]["n"]
    return Line(**said, **found_of(ours), n=n, seeds=seeds, status=status, why=why)


def over_seeds(each: Sequence[Interval]) -> Interval:
    """The mean of the models' numbers; the interval holds all of theirs, or the numbers where those have none."""
    ends = [end for one in each for end in (one.low, one.high) if not math.isnan(end)]
    if not ends and len(each) > 1:
        ends = [one.mean for one in each]
    return Interval(sum(one.mean for one in each) / len(each), min(ends, default=math.nan), max(ends, default=math.nan))


def lines_of(case: Case, table: pd.DataFrame | None, scale: Scale) -> list[Line]:
    """All numbers of a case: its score, and what each alteration changes."""
    said: dict[str, Any] = {"where": case.table, "system": case.system, "data": case.data}
    theirs = {name: (value, sd) for name, value, sd in _theirs(case.published)}
    found = {} if table is None else _ablated(table)
    unit = measured(table["base_counts"]) if table is not None else "BLEU" if case.kind == "generation" else "accuracy"
    lines = []
    for name in [*found, *(name for name in theirs if name not in found)]:
        value, sd = theirs.get(name, (None, None))
        line: dict[str, Any] = {**said, "quantity": name.replace("base", unit), "published": value, "sd": sd}
        if table is None or name not in found:
            lines.append(Line(**line, **not_run(case.needs)))
            continue
        status = stated(value, found[name], scale, sd)
        lines.append(Line(
            **line, **found_of(found[name]), n=table["example"].nunique(), seeds=table["seed"].nunique(), status=status,
            why=case.why if status in ("differs", "undecided", "control") else "",
        ))  # fmt: skip
    return lines


def _ablated(table: pd.DataFrame) -> dict[str, Interval]:
    """The unaltered score, and what each alteration changes."""
    found = {"base": based(table)}
    for (variant, when), rows in table.groupby(["variant", "when"], sort=False):
        fall = paired_bootstrap_of(*table_counts(rows))
        found[f"{variant}, {when}"] = Interval(-fall.mean, -fall.high, -fall.low)
    return found


def _theirs(published: Published | None) -> list[tuple[str, float, float | None]]:
    if published is None:
        return []
    changes = [published.uniform[0], published.uniform[1], published.random[0], published.random[1], published.permuted]
    named = [f"{variant}, {when}" for variant, when in ALTERATIONS]
    return [("base", published.base, published.sd), *((n, c, None) for n, c in zip(named, changes, strict=True))]


def based(table: pd.DataFrame) -> Interval:
    """The unaltered score: its mean over the seeds, with an interval over examples and seeds."""
    rows = table.drop_duplicates(["seed", "example"])
    measure, base, _ = table_counts(rows)
    draws = resampled(measure, base)[:, 0]
    return interval(float(measure(base.sum(1)).mean()), draws)
