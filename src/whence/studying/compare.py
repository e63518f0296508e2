"""What the runs of a study say together: verdicts by type of task, architecture and run, and pooled effects.

Needs the saved tables alone: no model, no torch.
"""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from whence.core.errors import BadData
from whence.measures.intervals import Interval
from whence.measures.intervals.pooling import random_effects
from whence.results.result import Result
from whence.results.verdict import Effect
from whence.studying.records import Records
from whence.studying.status import read_plan
from whence.studying.tasks import Task

PLACE = ("type", "architecture", "model", "data", "seed", "run")
MEASURED = ["run", "experiment", "key", "variant", "when", "unit", "smallest"]  # what makes two effects comparable
EVERYWHERE = "all"


@dataclass(frozen=True, eq=False)
class Comparison:
    """One row for each run (`verdicts`), for each of its effects (`effects`), and for each effect pooled (`pooled`)."""

    study: str
    about: str
    verdicts: pd.DataFrame
    effects: pd.DataFrame
    pooled: pd.DataFrame
    missing: int  # runs that are not done


def compare(out: Path, name: str) -> Comparison:
    """The runs of a study that are done, compared."""
    grid, tasks = read_plan(out, name)
    wanted, records = [task for task in tasks if task.kind == "run"], Records(out)
    found = [(task, records.store.load(out / done["result"])) for task in wanted if (done := records.done(task.key))]
    if not found:
        raise BadData(f"no run of the study {name} is done in {out}; run `whence study` first")
    verdicts = pd.DataFrame(_verdict_row(task, result) for task, result in found)
    effects = pd.DataFrame(row for task, result in found for row in _effect_rows(task, result))
    return Comparison(grid.name, grid.about, verdicts, effects, pool(effects), len(wanted) - len(found))


def _where(task: Task, result: Result) -> dict[str, Any]:
    return {**{name: task.about[name] for name in PLACE}, "experiment": result.experiment}


def _verdict_row(task: Task, result: Result) -> dict[str, Any]:
    verdict = result.verdict()
    n = max((effect.n for effect in verdict.effects), default=0)
    said = {"question": verdict.question, "answer": verdict.answer, "n": n, "sentence": verdict.sentence}
    return {**_where(task, result), **said}


def _effect_rows(task: Task, result: Result) -> Iterator[dict[str, Any]]:
    for number, effect in enumerate(result.verdict().effects):
        if not effect.place or effect.place == EVERYWHERE:
            values = {name: getattr(effect, name) for name in ("key", "variant", "when", "unit", "smallest", "label")}
            numbers = {name: getattr(effect, name) for name in ("value", "low", "high", "n")}
            yield {**_where(task, result), "deciding": number == 0, **values, **numbers}


def pool(effects: pd.DataFrame) -> pd.DataFrame:
    """Each effect pooled over corpora, by type of task and architecture, and by type of task alone.

    Estimates on one corpus (several models and seeds) are pooled first, then the corpora: a random-effects model each
    time, so the interval is for corpora and models like these. Of one corpus there is none but its own.
    """
    if effects.empty:
        return pd.DataFrame()
    rows = []
    for by in (["type"], ["type", "architecture"]):
        for values, group in effects.groupby([*by, *MEASURED], sort=False, dropna=False):
            of_corpora = [_pooled(one) for _, one in group.groupby("data", sort=False)]
            finite = [one for one in of_corpora if one is not None]
            if not finite:
                continue
            pooled = finite[0] if len(finite) == 1 else random_effects(finite, at_least_fixed=True)
            about = {"architecture": EVERYWHERE, **dict(zip([*by, *MEASURED], values, strict=True))}
            counts = {"corpora": len(finite), "runs": len(group), "n": int(group["n"].sum())}
            numbers = {"value": pooled.mean, "low": pooled.low, "high": pooled.high}
            rows.append({**about, **numbers, **counts, "label": group["label"].iloc[0]})
    return pd.DataFrame(rows)


def _pooled(group: pd.DataFrame) -> Interval | None:
    """The estimates on one corpus, pooled; None if none of them is finite."""
    estimates = [
        Interval(value, low, high)
        for value, low, high in zip(group["value"], group["low"], group["high"], strict=True)
        if all(map(math.isfinite, (value, low, high)))
    ]
    if len(estimates) < 2:
        return estimates[0] if estimates else None
    return random_effects(estimates, at_least_fixed=True)


def answers(verdicts: pd.DataFrame) -> pd.DataFrame:
    """How often each answer was given, by run, type of task and architecture."""
    counted = pd.crosstab([verdicts["run"], verdicts["type"], verdicts["architecture"]], verdicts["answer"])
    order = [answer for answer in ("yes", "yes, in part", "no", "undecided") if answer in counted]
    return counted[order].reset_index().rename_axis(columns=None)


def as_effects(pooled: pd.DataFrame, key: str) -> Sequence[Effect]:
    """The pooled effects of one kind by type of task, to be drawn."""
    chosen = pooled[(pooled["key"] == key) & (pooled["architecture"] == EVERYWHERE)]
    return [_effect(row) for row in chosen.to_dict("records")]


def _effect(row: Mapping[Hashable, Any]) -> Effect:
    corpora = "1 corpus" if row["corpora"] == 1 else f"{row['corpora']} corpora"
    label = f"{row['type'] or 'all texts'}, {row['label']} ({corpora}, {row['runs']} runs)"
    measured = Interval(float(row["value"]), float(row["low"]), float(row["high"]))
    return Effect.of(row["key"], label, measured, row["unit"], float(row["smallest"]), int(row["n"]))
