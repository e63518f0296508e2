"""What is lost without attention, by kind of task: Vashishth et al. 2019's finding in numbers, and its Figure 1."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from whence.experiments.ablation import table_counts
from whence.figures.bars import bars
from whence.figures.style import linked, save
from whence.measures.bootstrap import Interval, interval, resampled
from whence.reproducing.compare import Found, based
from whence.reproducing.ledger_row import number
from whence.reproducing.study import Case, Study
from whence.results.result import Result

SOME = 1e-9  # points: of nothing, nothing is lost
KINDS = {"single": "single texts", "pair": "pairs of texts", "generation": "translation"}


def relative_falls(tables: Mapping[str, Sequence[pd.DataFrame]], variant: str = "uniform") -> dict[str, Interval]:
    """By kind of task what share of the score is lost when a model is trained with equal weights, in per cent.

    The mean over the cases of (base − altered) / base (Vashishth et al. 2019 §4.1); the interval resamples each case by
    itself.
    """
    found = {}
    for kind, of_kind in tables.items():
        each = [_relative(table, variant, seed) for seed, table in enumerate(of_kind)]
        means, draws = [mean for mean, _ in each], [drawn for _, drawn in each]
        found[kind] = interval(float(np.mean(means)), np.mean(draws, axis=0))
    return found


def trained_so(table: pd.DataFrame, variant: str = "uniform") -> bool:
    """Whether models were trained again with their attention altered."""
    return bool(((table["variant"] == variant) & (table["when"] == "train+infer")).any())


def _relative(table: pd.DataFrame, variant: str, seed: int) -> tuple[float, Float[ndarray, " draw"]]:
    rows = table[(table["variant"] == variant) & (table["when"] == "train+infer")]
    measure, base, altered = table_counts(rows)
    before, after = (float(measure(counts.sum(1)).mean()) for counts in (base, altered))
    drawn = resampled(measure, base, altered, seed=seed)
    falls = 100 * (drawn[:, 0] - drawn[:, 1]) / np.maximum(drawn[:, 0], SOME)
    return 100 * (before - after) / max(before, SOME), falls


def published_falls(study: Study) -> dict[str, float]:
    """The same shares from the published tables: what the text should have said."""
    shares: dict[str, list[float]] = {}
    for case in study.case:
        if case.published is not None:
            shares.setdefault(case.kind, []).append(-100 * case.published.uniform[0] / case.published.base)
    return {kind: float(np.mean(of_kind)) for kind, of_kind in shares.items()}


def finding(study: Study, found: Found) -> str:
    """The paper's finding in numbers, and what the controls do to it."""
    groups: dict[str, list[pd.DataFrame]] = {}
    for what, case, result in found:
        if what is case and trained_so(result.table):
            label = KINDS[case.kind] + ("" if case.published is not None else ", controls")
            groups.setdefault(label, []).append(result.table)
    if not groups:
        return ""
    stated = {KINDS[kind]: share for kind, share in published_falls(study).items()}
    rows = [
        f"| {label} | {len(groups[label])} | {number(stated.get(label))} | {fall.mean:.1f} | {fall.low:.1f} to"
        f" {fall.high:.1f} |"
        for label, fall in relative_falls(groups).items()
    ]
    return "\n".join([
        "### The finding in numbers", "",
        "Share of the score that is lost when a model is trained and tested with equal weights, in per cent of the"
        " unaltered score, mean over models and corpora. *Published* is reckoned from the paper's tables, for all its"
        " corpora.", "",
        "| kind of task | cases | published | ours | interval |", "| --- | --- | --- | --- | --- |", *rows, "",
        *controls(study, found),
    ])  # fmt: skip


def controls(study: Study, found: Found) -> list[str]:
    """What becomes of the published fall where the second text reaches the classifier past the attention, too: a
    sentence for each control.
    """
    theirs = {case.data: case.published for case in reversed(study.case) if case.published is not None}
    said = []
    for what, case, result in found:
        if what is not case or case.published is not None or case.data not in theirs or not trained_so(result.table):
            continue
        (ours,) = relative_falls({"": [result.table]}).values()
        published = -100 * theirs[case.data].uniform[0] / theirs[case.data].base
        said.append(
            f"- {case.data}: published, {published:.1f} % are lost where attention is the only road from the second"
            f" text to the answer; with a bypass ({case.system}) ours loses {ours.mean:.1f} % ({ours.low:.1f} to"
            f" {ours.high:.1f}), so {_remains(ours, published)}."
        )
    return said


def _remains(ours: Interval, published: float) -> str:
    """What a control says of a published fall."""
    if ours.low > published / 2:
        return "attention itself is needed there"
    if ours.high < published / 2:
        return "most of the published fall is the second text being cut off, and not attention"
    return "how much of the published fall is attention's is open"


def first_figure(study: Study, found: Found, folder: Path) -> str:
    """The paper's Fig. 1: one corpus of each kind, with attention and trained without."""
    shown: dict[str, tuple[Case, Result]] = {}
    for what, case, result in found:
        if what is case and case.published is not None:
            shown.setdefault(case.kind, (case, result))
    if not shown:
        return ""
    table = pd.DataFrame([bar for case, result in shown.values() for bar in _bars(case, result.table)])
    picture = bars(table, "task", "weights", "value", "low", "high", x_label="accuracy in per cent, or BLEU")
    files = save(picture, folder / f"{study.name}-figure-1", ["svg"])
    return f"### Figure 1\n\nWith attention, and trained with equal weights.\n\n![Figure 1]({linked(files)})"


def _bars(case: Case, table: pd.DataFrame) -> list[dict[str, Any]]:
    base = based(table)
    rows = table[(table["variant"] == "uniform") & (table["when"] == "train+infer")]
    if rows.empty:
        return []
    altered = based(rows.assign(base=rows["altered"], base_counts=rows["altered_counts"]))
    return [_bar(case, "with attention", base), _bar(case, "equal weights", altered)]


def _bar(case: Case, weights: str, found: Interval) -> dict[str, Any]:
    return {"task": f"{case.data}, {case.system}", "weights": weights, "value": found.mean, "low": found.low,
            "high": found.high}  # fmt: skip
