"""What was measured for a figure on a case: the quantities of each model, from results or from earlier rows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from whence.measures.intervals import Interval
from whence.reproducing.study import Case, FigureSpec, Study
from whence.results.experiment import experiment
from whence.results.result import Result


class FigureResult(NamedTuple):
    """The result of a figure's experiment on the model of one case and seed, and the record of the model's training."""

    figure: FigureSpec
    case: Case
    result: Result
    record: Mapping[str, Any] = {}
    seed: int = 0

    @property
    def learned(self) -> bool:
        """Whether the model is better than chance, as far as its training's record says."""
        return self.record.get("health", {}).get("learned") is not False


@dataclass(frozen=True)
class Measured:
    """The quantities of each model, of how many examples and seeds; whether all models learned; and the share of the
    most frequent label in per cent, where texts have labels.
    """

    each: tuple[Mapping[str, Interval], ...] = ()
    n: int = 0
    seeds: int = 0
    learned: bool = True
    chance: float | None = None

    def of(self, quantity: str) -> list[Interval]:
        """A quantity, of each model that has it."""
        return [quantities[quantity] for quantities in self.each if quantity in quantities]


def measured(figure: FigureSpec, results: Sequence[Result], learned: bool = True) -> Measured:
    """What the results of a figure on a case say."""
    if not results:
        return Measured()
    each = tuple(experiment(figure.experiment).quantities(result.table) for result in results)
    return Measured(each, results[0].manifest["corpus"]["n"], _n_seeds(results), learned, chance_of(results))


def _n_seeds(results: Sequence[Result]) -> int:
    return max(len(results), *(result.table["seed"].nunique() if "seed" in result.table else 1 for result in results))


def chance_of(results: Sequence[Result]) -> float | None:
    """The share of the most frequent label, in per cent; None where texts have no labels."""
    labels = [result.table["label"] for result in results if "label" in result.table]
    shares = [column[column.notna() & (column != "")].value_counts(normalize=True) for column in labels]
    return max((100 * float(share.iloc[0]) for share in shares if len(share) > 1), default=None)


@dataclass(frozen=True)
class Earlier:
    """What stood on the page of a study before tables were kept: rows of the ledger, paragraphs by figure and case, and
    whole summaries.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    parts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    summaries: Mapping[str, str] = field(default_factory=dict)

    def measured(self, figure: FigureSpec, case: Case) -> Measured:
        """What its rows say of a figure on a case."""
        places = {figure.name, *(number.where for number in figure.number if number.where)}
        system = with_mode(case.system, case)
        named = {(with_mode(number.system, case), number.quantity) for number in figure.number if number.system}
        mine = [
            row
            for row in self.rows
            if row["where"] in places
            and row["data"] == case.data
            and (row["system"] == system or (row["system"], row["quantity"]) in named)
        ]
        if not mine:
            return Measured()
        each = {row["quantity"]: Interval(*(_number(row[name]) for name in ("ours", "low", "high"))) for row in mine}
        first = mine[0]
        return Measured((each,), first["n"], first["seeds"], first.get("learned", True), first.get("chance"))


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def with_mode(system: str, case: Case) -> str:
    """The name of a system as rows have it."""
    return f"{system}{f', {case.mode}' if case.mode else ''}"


def order_of(study: Study) -> dict[str, int]:
    """The places of figures and cases in the study's file."""
    return {name: number for number, name in enumerate([f.name for f in study.figure] + [c.name for c in study.case])}
