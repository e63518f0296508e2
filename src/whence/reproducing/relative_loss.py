"""Summaries of ablations over cases: which share of the score is lost, by group, and a bar chart of scores.

All labels and sentences come from the study file.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from whence.experiments.ablation import rows_of, score, table_counts
from whence.figures.bars import bars
from whence.figures.style import linked, save
from whence.measures.bootstrap import Interval, interval, resampled
from whence.reproducing.compare import FigureResult
from whence.reproducing.ledger_row import format_value
from whence.reproducing.study import Case, Control, FigureSpec, RelativeLoss, ScoreBars, Study

SMALLEST_SCORE = 1e-9  # points: where the score is zero, nothing can be lost


def relative_losses(tables: Mapping[str, Sequence[pd.DataFrame]], change: str) -> dict[str, Interval]:
    """By group, the share of the score that is lost, in per cent: the mean over the cases of (base − ablated) / base.

    (Vashishth et al. 2019 §4.1.) The interval resamples each case by itself.
    """
    losses = {}
    for group, of_group in tables.items():
        each = [_relative(rows_of(table, change), seed) for seed, table in enumerate(of_group)]
        means, draws = [mean for mean, _ in each], [drawn for _, drawn in each]
        losses[group] = interval(float(np.mean(means)), np.mean(draws, axis=0))
    return losses


def _relative(rows: pd.DataFrame, seed: int) -> tuple[float, Float[ndarray, " draw"]]:
    measure, base, ablated = table_counts(rows)
    before, after = (float(measure(counts.sum(1)).mean()) for counts in (base, ablated))
    drawn = resampled(measure, base, ablated, seed=seed)
    losses = 100 * (drawn[:, 0] - drawn[:, 1]) / np.maximum(drawn[:, 0], SMALLEST_SCORE)
    return 100 * (before - after) / max(before, SMALLEST_SCORE), losses


def published_losses(study: Study, summary: RelativeLoss) -> dict[str, float]:
    """The same shares from the published tables: by group, the mean over all its cases."""
    shares: dict[str, list[float]] = {}
    for figure, case in _published_cases(study, summary):
        shares.setdefault(case.group, []).append(_published_share(figure, case, summary))
    return {group: float(np.mean(of_group)) for group, of_group in shares.items()}


def _published_cases(study: Study, summary: RelativeLoss) -> list[tuple[FigureSpec, Case]]:
    figures = [figure for figure in study.figure if figure.name in summary.figures]
    return [(figure, case) for figure in figures for case in study.case if case.name in figure.published]


def _published_share(figure: FigureSpec, case: Case, summary: RelativeLoss) -> float:
    values = {number.quantity: number.value for number in figure.numbers_of(case.name)}
    change, base = values[summary.change], next(values[name] for name in summary.relative_to if name in values)
    return -100 * float(change or 0) / float(base or 0)


def describe_losses(study: Study, summary: RelativeLoss, results: Sequence[FigureResult]) -> str:
    """A table of the lost shares by group, published and ours, and what the controls say; nothing without results."""
    groups: dict[str, list[pd.DataFrame]] = {}
    for figure, case, result in _ablated(summary, results):
        label = case.group + (", controls" if figure.is_control(case.name) else "")
        groups.setdefault(label, []).append(result.table)
    if not groups:
        return ""
    published = published_losses(study, summary)
    lines = [
        f"| {label} | {len(groups[label])} | {format_value(published.get(label))} | {loss.mean:.1f} |"
        f" {loss.low:.1f} to {loss.high:.1f} |"
        for label, loss in relative_losses(groups, summary.change).items()
    ]
    header = [f"| {summary.group_heading} | cases | published | ours | interval |", "| --- | --- | --- | --- | --- |"]
    controls = [f"- {sentence}" for sentence in describe_controls(study, summary, results)]
    return "\n".join([f"### {summary.name}", "", summary.about, "", *header, *lines, "", *controls])


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
    for figure, case, result in _ablated(summary, results):
        if figure.is_control(case.name) and case.data in published:
            (ours,) = relative_losses({"": [result.table]}, summary.change).values()
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


def draw_scores(study: Study, summary: ScoreBars, results: Sequence[FigureResult], folder: Path) -> str:
    """A bar chart: the first published case of each group, with its own score and with the change."""
    first: dict[str, FigureResult] = {}
    for one in results:
        if one.figure.name in summary.figures and not one.figure.is_control(one.case.name):
            first.setdefault(one.case.group, one)
    shown = _ablated(summary, list(first.values()))
    if not shown:
        return ""
    table = pd.DataFrame([bar for _, case, result in shown for bar in _bars(case, result.table, summary)])
    picture = bars(table, "task", "weights", "value", "low", "high", x_label=summary.x_label)
    stem = f"{study.name}-{summary.name.lower().replace(' ', '-')}"
    files = save(picture, folder / stem, ["svg"])
    return f"### {summary.name}\n\n{summary.about}\n\n![{summary.name}]({linked(files)})"


def _bars(case: Case, table: pd.DataFrame, summary: ScoreBars) -> list[dict[str, object]]:
    scores = score(table), score(rows_of(table, summary.change), "ablated")
    return [
        {"task": f"{case.data}, {case.system}", "weights": label, "value": one.mean, "low": one.low, "high": one.high}
        for label, one in zip(summary.labels, scores, strict=True)
    ]
