"""Numbers from the table of `faithfulness`: how much better than at random an explainer orders the words."""

from typing import Any

import numpy as np
import pandas as pd

from whence.measures.intervals.decisions import level_for
from whence.measures.intervals.interval import NOT_MEASURED, Interval
from whence.measures.intervals.means import mean_interval
from whence.results.verdict import Effect

SMALLEST = 0.1  # of the way from the worst order to the best: a fifth of what lies between random orders and the best
FEWEST_COMPARED = 10  # texts in which orders differ: of fewer, an interval says too little
RANDOM = "random"
BY_CHANCE = 0.5  # of the way from the worst order to the best: what random orders have on average, in every text
INPUTS = ("delete", "mask", "replace")  # kinds of removal that change the text; the others change what is attended to
KINDS = {
    "delete": "deleted",
    "mask": "masked",
    "replace": "replaced by words of the corpus",
    "attention": "not attended to",
    "zero": "not attended to (not renormalised)",
}
UNIT = "of the way from the worst order to the best"


def first_method(table: pd.DataFrame) -> str:
    """The explainer that is judged: the first of the table, except random scores."""
    return next((str(name) for name in table["method"].unique() if name != RANDOM), RANDOM)


def kinds(table: pd.DataFrame) -> list[str]:
    """The kinds of removal in the table, those that change the text first."""
    return [kind for kind in KINDS if kind in set(table["erase"])]


def gains(table: pd.DataFrame, kind: str, method: str) -> "pd.Series[float]":
    """For every text how far a method's order is above random ones, by one kind of removal; texts where no order
    differs from another are left out.

    Random orders have one half in every text: an order and its reverse are equally likely, and what one gains the other
    loses. That is known, so it is not estimated from those that were drawn, which would only widen the interval.
    """
    there = table[(table["erase"] == kind) & (table["method"] == method)]
    return there.set_index("example")["normalised"].dropna() - BY_CHANCE


def effects(table: pd.DataFrame) -> list[Effect]:
    """By each kind of removal how far the judged explainer is above random orders; the intervals hold together."""
    method, there = first_method(table), kinds(table)
    found = []
    for kind in there:
        values = gains(table, kind, method)
        label = f"{method} above random orders, words {KINDS[kind]}"
        measured = _mean(values, level_for(len(there)), ends=(-BY_CHANCE, BY_CHANCE))
        found.append(
            Effect.of("above_random", label, measured, UNIT, SMALLEST, len(values), place=method, variant=kind)
        )
    return found


def other_explainers(table: pd.DataFrame) -> list[Effect]:
    """How far each other explainer is above the judged one, over the kinds of removal that change the text."""
    method, by_text = first_method(table), over_kinds(table)
    others = [name for name in by_text if name not in (method, RANDOM)]
    return [
        Effect.of(
            "above_judged",
            f"{other} above {method}",
            _mean((by_text[other] - by_text[method]).dropna(), level_for(len(others))),
            UNIT,
            SMALLEST,
            int((by_text[other] - by_text[method]).notna().sum()),
            variant=str(other),
        )
        for other in others
    ]


def over_kinds(table: pd.DataFrame) -> pd.DataFrame:
    """The normalised faithfulness of each text [example, method], mean over the kinds of removal that change the text
    (of all kinds, if none does).
    """
    chosen = [kind for kind in kinds(table) if kind in INPUTS] or kinds(table)
    there = table[table["erase"].isin(chosen)]
    found = there.pivot_table(index="example", columns="method", values="normalised", aggfunc="mean", sort=False)
    return found.reindex(columns=list(table["method"].unique()))  # also those that were measured nowhere


def ranked(table: pd.DataFrame) -> pd.DataFrame:
    """Each explainer in one row, the most faithful first."""
    by_text, rows = over_kinds(table), []
    for method in map(str, table["method"].unique()):
        mine = table[table["method"] == method]
        found = _mean(by_text[method].dropna())
        rows.append(
            {
                "method": method,
                "faithfulness": found.mean,
                "low": found.low,
                "high": found.high,
                "texts": int(by_text[method].notna().sum()),
                **{name: float(mine[name].mean()) for name in ("comprehensiveness", "sufficiency")},
                **{name.replace("_", " "): float(mine[name].mean()) for name in SOFT},
                "flips after": float(mine["flip"].fillna(1.0).mean()),
                "against": float(mine["against"].mean()),
            }
        )
    return pd.DataFrame(rows).sort_values("faithfulness", ascending=False, kind="stable", ignore_index=True)


SOFT = ("soft_comprehensiveness", "soft_sufficiency")


def surer_without_top(table: pd.DataFrame, method: str) -> "pd.Series[float]":
    """For every text in which words decide, whether its decision gets surer without the word that scores highest,
    deleted if it can be.
    """
    mine = (table["method"] == method) & (table["erase"] == kinds(table)[0]) & table["normalised"].notna()
    return table[mine]["against"].dropna()


def quantities(table: pd.DataFrame) -> dict[str, Interval]:
    """`faithfulness of raw_attention` and, by each kind of removal, `raw_attention above random, delete`."""
    by_text = over_kinds(table)
    found = {f"faithfulness of {method}": _mean(by_text[method].dropna()) for method in by_text}
    for kind in kinds(table):
        for method in (name for name in by_text if name != RANDOM):
            gained = gains(table, kind, str(method))
            found[f"{method} above random, {kind}"] = _mean(gained, ends=(-BY_CHANCE, BY_CHANCE))
    judged = table[table["method"] == first_method(table)]
    for kind in kinds(table):
        found[f"ΔJS, {kind}"] = _mean(judged[judged["erase"] == kind]["delta_js"].dropna())
    return found


def changing(table: pd.DataFrame) -> tuple[int, int]:
    """How many texts change their decision in some removal, and how many texts there are."""
    each = table.groupby("example")["changes"].any()
    return int(each.sum()), len(each)


def _mean(values: Any, level: float = 0.95, ends: tuple[float, float] = (-1.0, 1.0)) -> Interval:
    """The mean with its interval, of values between two ends; of too few values nothing is measured."""
    if len(values) < FEWEST_COMPARED:
        return NOT_MEASURED
    return mean_interval(np.asarray(values, float)[None], level, within=ends)
