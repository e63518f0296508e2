"""Summaries of ablations over cases: which share of the score is lost, by group, and a bar chart of scores.

All labels and sentences come from the study file.
"""

from collections.abc import Sequence
from math import isnan
from pathlib import Path

import numpy as np
import pandas as pd

from whence.experiments.ablation import rows_of, score, table_counts
from whence.figures.bars import bars
from whence.figures.style import save
from whence.measures.intervals import Interval, average, random_effects, relative_loss_interval
from whence.reproducing.ledger_row import format_value
from whence.reproducing.measured import Earlier, FigureResult, Measured
from whence.reproducing.study import Case, Control, FigureSpec, RelativeLoss, ScoreBars, Study


def relative_loss(table: pd.DataFrame, change: str) -> Interval:
    """The share of the score that is lost, in per cent: (base − ablated) / base (Vashishth et al. 2019 §4.1)."""
    return relative_loss_interval(*table_counts(rows_of(table, change)))


def relative_loss_of_rows(found: Measured, summary: RelativeLoss) -> Interval | None:
    """The same from the rows of an earlier run, whose table was not kept: the interval is that of the change alone."""
    changes = found.of(summary.change)
    bases = [one for name in summary.relative_to for one in found.of(name)]
    if not changes or not bases or not found.learned:
        return None
    change, base = changes[0], bases[0].mean
    mean, low, high = (-100 * end / base for end in (change.mean, change.high, change.low))
    return Interval(mean, low, high, change.level)


def published_losses(study: Study, summary: RelativeLoss) -> dict[str, float]:
    """The same shares from the published tables: by group, the mean over all its cases."""
    shares: dict[str, list[float]] = {}
    for figure, case in _published_cases(study, summary):
        shares.setdefault(case.group, []).append(_published_share(figure, case, summary))
    return {group: float(np.mean(of_group)) for group, of_group in shares.items()}


def _published_cases(study: Study, summary: RelativeLoss) -> list[tuple[FigureSpec, Case]]:
    figures = [figure for figure in study.figure if figure.name in summary.figures]
    found: dict[tuple[str, str, str], tuple[FigureSpec, Case]] = {}  # a model that is run in two modes counts once
    for figure in figures:
        for case in study.case:
            if case.name in figure.published:
                found.setdefault((figure.name, case.system, case.data), (figure, case))
    return list(found.values())


def _published_share(figure: FigureSpec, case: Case, summary: RelativeLoss) -> float:
    values = {number.quantity: number.value for number in figure.numbers_of(case.name)}
    change, base = values[summary.change], next(values[name] for name in summary.relative_to if name in values)
    return -100 * float(change or 0) / float(base or 0)


def losses_by_group(
    study: Study, summary: RelativeLoss, results: Sequence[FigureResult], earlier: Earlier
) -> dict[str, list[Interval]]:
    """The lost shares of all cases, by group; of cases that have no kept table, those of an earlier run."""
    kept = {(one.figure.name, one.case.name): one.result.table for one in _ablated(summary, results)}
    groups: dict[str, list[Interval]] = {}
    for figure in (figure for figure in study.figure if figure.name in summary.figures):
        for case in (case for case in study.case if case.name in figure.cases):
            table = kept.get((figure.name, case.name))
            loss = (
                relative_loss(table, summary.change)
                if table is not None
                else relative_loss_of_rows(earlier.measured(figure, case), summary)
            )
            if loss is not None:
                kind = "controls" if figure.is_control(case.name) else case.mode
                groups.setdefault(", ".join(filter(None, (case.group, kind))), []).append(loss)
    return groups


def describe_losses(
    study: Study, summary: RelativeLoss, results: Sequence[FigureResult], earlier: Earlier | None = None
) -> str:
    """A table of the lost shares by group, published and ours, and what the controls say; nothing without results.

    Ours have two intervals: for other examples and seeds of the same cases, and for other cases (random effects).
    """
    groups = losses_by_group(study, summary, results, earlier or Earlier())
    if not groups:
        return ""
    published = published_losses(study, summary)
    lines = [
        f"| {label} | {len(losses)} | {format_value(published.get(label))} | {_with_interval(average(losses))} |"
        f" {_with_interval(random_effects(losses))} |"
        for label, losses in groups.items()
    ]
    header = [
        f"| {summary.group_heading} | cases | published | ours, of these cases | ours, random effects |",
        "| --- | --- | --- | --- | --- |",
    ]
    controls = [f"- {sentence}" for sentence in describe_controls(study, summary, results)]
    return "\n".join([f"## {summary.name}", "", summary.about, "", *header, *lines, "", *controls]).rstrip()


def _with_interval(one: Interval) -> str:
    return f"{one.mean:.1f}" + ("" if isnan(one.low) else f" ({one.low:.1f} to {one.high:.1f})")


def _ablated(summary: RelativeLoss | ScoreBars, results: Sequence[FigureResult]) -> list[FigureResult]:
    """The results of the summary's figures that have the change it is about."""
    mine = [one for one in results if one.figure.name in summary.figures]
    return [one for one in mine if len(rows_of(one.result.table, summary.change))]


def describe_controls(study: Study, summary: RelativeLoss, results: Sequence[FigureResult]) -> list[str]:
    """What becomes of the published loss in a control on the same data: a sentence for each."""
    if summary.control is None:
        return []
    published = {
        case.data: _published_share(figure, case, summary)
        for figure, case in reversed(_published_cases(study, summary))
    }
    sentences = []
    for figure, case, result, *_ in _ablated(summary, results):
        if figure.is_control(case.name) and case.data in published:
            ours = relative_loss(result.table, summary.change)
            share = published[case.data]
            conclusion = _conclusion(summary.control, ours, share)
            numbers = {"published": share, "ours": ours.mean, "low": ours.low, "high": ours.high}
            sentences.append(
                summary.control.sentence.format(data=case.data, system=case.system, conclusion=conclusion, **numbers)
            )
    return sentences


def _conclusion(control: Control, ours: Interval, published: float) -> str:
    if ours.low > published / 2:
        return control.much
    return control.little if ours.high < published / 2 else control.unclear


def draw_scores(
    study: Study,
    summary: ScoreBars,
    results: Sequence[FigureResult],
    folder: Path,
    draws: bool = True,
    earlier: Earlier | None = None,
) -> str:
    """A bar chart: the first published case of each group that was run, now or earlier, with its own score and with the
    change.
    """
    kept = {(one.figure.name, one.case.name): one.result.table for one in _ablated(summary, results)}
    first: dict[str, list[dict[str, object]]] = {}
    for figure in (figure for figure in study.figure if figure.name in summary.figures):
        for case in (case for case in study.case if case.name in figure.published):
            table = kept.get((figure.name, case.name))
            before = (earlier or Earlier()).measured(figure, case)
            pair = _scores_of_rows(before, summary, figure) if table is None else _scores(table, summary)
            if pair and case.group not in first:
                first[case.group] = _bars(case, pair, summary)
    if not first:
        return ""
    table = pd.DataFrame([bar for of_case in first.values() for bar in of_case])
    stem = f"figures/{study.name}-{summary.name.lower().replace(' ', '-')}"
    if draws:
        save(bars(table, "task", "weights", "value", "low", "high", x_label=summary.x_label), folder / stem, ["svg"])
    return f"## {summary.name}\n\n{summary.about}\n\n![{summary.name}]({stem}.svg)"


def _scores(table: pd.DataFrame, summary: ScoreBars) -> tuple[Interval, Interval]:
    return score(table), score(rows_of(table, summary.change), "ablated")


def _scores_of_rows(found: Measured, summary: ScoreBars, figure: FigureSpec) -> tuple[Interval, Interval] | None:
    """From rows of an earlier run: the score after the change has the interval of the change."""
    bases, changes = [one for name in figure.levels for one in found.of(name)], found.of(summary.change)
    if not bases or not changes or not found.learned:
        return None
    base, change = bases[0], changes[0]
    return base, Interval(*(base.mean + end for end in (change.mean, change.low, change.high)))


def _bars(case: Case, pair: tuple[Interval, Interval], summary: ScoreBars) -> list[dict[str, object]]:
    return [
        {"task": f"{case.data}, {case.system}", "weights": label, "value": one.mean, "low": one.low, "high": one.high}
        for label, one in zip(summary.labels, pair, strict=True)
    ]
