"""Ours beside theirs: every published number of a study with our value, its interval and a status."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from whence.experiments._marks import measured
from whence.experiments.ablation import table_counts
from whence.measures.bootstrap import Interval, interval, paired_bootstrap_of, resampled
from whence.reproducing.study import Case, Published, Scale, Study

SOME = 1e-9  # points: of nothing, nothing is lost
WITHIN = 2.0  # points: what is nearer counts as the same
WIDE = 10.0  # points: an interval that is wider holds too much to agree with anything
ALTERATIONS = [("uniform", "train+infer"), ("uniform", "infer"), ("random", "train+infer"), ("random", "infer"),
               ("permuted", "infer")]  # fmt: skip
RULE = (
    f"*Reproduced*: the published value lies within {WITHIN:g} points (or its own spread) of ours, or within our 95 %"
    f" interval, if that is no wider than {WIDE:g} points; within a wider one it is *undecided*: the seeds disagree."
    " *Differs*: it does not; what is known of the cause stands beside it."
)


@dataclass(frozen=True)
class Line:
    """One published number, and ours."""

    where: str
    system: str
    data: str
    quantity: str
    published: float | None
    sd: float | None
    ours: float | None
    low: float | None
    high: float | None
    n: int
    seeds: int
    status: str
    why: str = ""


def lines_of(case: Case, table: pd.DataFrame | None, scale: Scale) -> list[Line]:
    """All numbers of a case: its score, and what each alteration changes."""
    said: dict[str, Any] = {"where": case.table, "system": case.system, "data": case.data}
    if table is None:
        unit = "BLEU" if case.kind == "generation" else "accuracy"
        nothing: dict[str, Any] = {"ours": None, "low": None, "high": None, "n": 0, "seeds": 0}
        status = f"not run: needs {case.needs or 'time'}"
        return [
            Line(**said, quantity=name.replace("base", unit), published=value, sd=sd, **nothing, status=status)
            for name, value, sd in _theirs(case.published)
        ]
    found, unit = {"base": based(table)}, measured(table["base_counts"])
    for (variant, when), rows in table.groupby(["variant", "when"], sort=False):
        fall = paired_bootstrap_of(*table_counts(rows))
        found[f"{variant}, {when}"] = Interval(-fall.mean, -fall.high, -fall.low)
    theirs = {name: (value, sd) for name, value, sd in _theirs(case.published)}
    lines = []
    for name, ours in found.items():
        value, sd = theirs.get(name, (None, None))
        status = stated(value, ours, scale, sd)
        lines.append(Line(
            **said, quantity=name.replace("base", unit), published=value, sd=sd, ours=ours.mean, low=ours.low,
            high=ours.high, n=table["example"].nunique(), seeds=table["seed"].nunique(), status=status,
            why=case.why if status in ("differs", "undecided", "control") else "",
        ))  # fmt: skip
    return lines


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


def stated(published: float | None, ours: Interval, scale: Scale, sd: float | None = None) -> str:
    """The status of a number, given the published one and its spread."""
    if published is None:
        return "control"
    if scale == "quick":
        return "other data"
    if abs(published - ours.mean) <= max(WITHIN, sd or 0.0):
        return "reproduced"
    if not ours.low <= published <= ours.high:
        return "differs"
    return "reproduced" if ours.high - ours.low <= WIDE else "undecided"


def relative_falls(tables: Mapping[str, Sequence[pd.DataFrame]], variant: str = "uniform") -> dict[str, Interval]:
    """By kind of task what share of the score is lost when a model is trained with equal weights, in per cent.

    The mean over the cases of (base − altered) / base (003 §4.1); the interval resamples each case by itself.
    """
    found = {}
    for kind, of_kind in tables.items():
        each = [_relative(table, variant, seed) for seed, table in enumerate(of_kind)]
        means, draws = [mean for mean, _ in each], [drawn for _, drawn in each]
        found[kind] = interval(float(np.mean(means)), np.mean(draws, axis=0))
    return found


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
    rows = [[f"{line.where}  {line.system}  {line.data}  {line.quantity}", number(line.published, line.sd),
             number(line.ours), spread(line), line.status] for line in lines]  # fmt: skip
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
                     for row in (header, *rows))  # fmt: skip


def number(value: float | None, sd: float | None = None) -> str:
    """A number with its spread, if it is there."""
    return "" if value is None else f"{value:.1f}" + ("" if sd is None else f" ± {sd:.1f}")


def spread(line: Line) -> str:
    """An interval in words."""
    return "" if line.low is None or line.high is None else f"{line.low:.1f} to {line.high:.1f}"
