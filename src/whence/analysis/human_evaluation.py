"""What annotators say: shares by condition, how far the model's words are above controls, agreement, checks, time.

Values of an item are means over its annotators, and intervals are over items: for other texts and these annotators.
Checks and repeats are set apart, and so are annotators who failed more than a fifth of their checks.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from whence.analysis.gates import CHANCE, CORRECT
from whence.measures.annotator_agreement import cohen_kappa, krippendorff_alpha
from whence.measures.intervals import Interval, crossed_share_interval, mean_interval, share_interval
from whence.measures.intervals.interval import NOT_MEASURED, difference
from whence.results.columns import EXAMPLE, Column, Columns
from whence.results.verdict import Effect

COLUMNS = Columns(
    what="one row per answer; for marked words, one per answer and method",
    item=Column(str, "name of the item"),
    example=EXAMPLE,
    annotator=Column(str, "who answered"),
    synthetic=Column(bool, "whether the annotator is simulated"),
    task=Column(str, "what was asked: relevance, preference or marking"),
    condition=Column(str, "what the highlighted words are: a method, or a control"),
    control=Column(bool, "whether the condition is a control; for a preference, what it was compared with"),
    against=Column(str, "for a preference, what it was compared with"),
    correct=CORRECT,
    chance=CHANCE,
    answer=Column(str, "the answer as given"),
    value=Column(float, "relevant 1, not 0; preferred 1, same 0.5, not 0; for marked words, the average precision"),
    seconds=Column(float, "how long the item was shown"),
    check=Column(str, "for a check: passed or failed"),
    repeats=Column(str, "the item that this one repeats"),
    marks=Column(str, "for a marking: 1 for each marked word, else 0"),
)
MOST_FAILED = 0.2  # of an annotator's checks
SMALLEST = 0.2  # of the share that is judged relevant: one more text in five
SMALLEST_PREFERENCE = 0.1  # beyond a half: 60 of 100 preferences
SMALLEST_PRECISION = 0.05  # of average precision, as for `rationales`
COMPARED = {  # key, unit, smallest effect of interest and label of a comparison
    "relevance": ("above_control", "of the share judged relevant", SMALLEST, "{}, judged relevant more often than {}"),
    "preference": ("preferred", "of preferences beyond a half", SMALLEST_PREFERENCE, "{}, preferred to {}"),
    "marking": ("precision_above_control", "of average precision (0 to 1)", SMALLEST_PRECISION, "{}, above {}"),
}
CELLS = (
    ("right, relevant", 1.0, 1.0),
    ("right, not relevant", 1.0, 0.0),
    ("wrong, relevant", 0.0, 1.0),
    ("wrong, not relevant", 0.0, 0.0),
)


def left_out(table: pd.DataFrame) -> list[str]:
    """The annotators who failed too many checks."""
    checks = table[table["check"] != ""]
    failed = (checks["check"] == "failed").groupby(checks["annotator"]).mean()
    return [str(name) for name, share in failed.items() if share > MOST_FAILED]


def judged(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that count: no checks, no repeats, no annotators who are left out, no skipped items."""
    own = (table["check"] == "") & (table["repeats"] == "")
    return table[own & ~table["annotator"].isin(left_out(table)) & table["value"].notna()]


def conditions(table: pd.DataFrame, control: bool) -> list[str]:
    """The methods, or the controls, in the order of the study."""
    rows = table["condition"][(table["check"] == "") & (table["control"] == control)]
    return [str(one) for one in rows.unique()]


def item_values(counted: pd.DataFrame, condition: str) -> "pd.Series[float]":
    """The value of each item of a condition, mean over its annotators."""
    mine = counted["condition"] == condition
    return counted["value"][mine].groupby(counted["item"][mine], sort=True).mean()


def share(values: Float[ndarray, " item"]) -> Interval:
    """A mean of values from 0 to 1, with its interval over items."""
    return crossed_share_interval(values[None]) if len(values) else NOT_MEASURED


def above_control(counted: pd.DataFrame, method: str, control: str) -> Interval:
    """How far the share judged relevant is above that of a control, whose items have other texts."""
    own, other = (item_values(counted, one).to_numpy(float) for one in (method, control))
    if not len(own) or not len(other):
        return NOT_MEASURED
    return difference(share(own), share(other))


def beyond_half(counted: pd.DataFrame, method: str, other: str) -> Interval:
    """How far the share of preferences for a method is above a half."""
    rows = counted[(counted["condition"] == method) & (counted["against"] == other)]
    mine = rows.groupby("item")["value"].mean()
    found = share(mine.to_numpy(float))
    return Interval(found.mean - 0.5, found.low - 0.5, found.high - 0.5, found.level)


def finds_more(counted: pd.DataFrame, method: str, control: str) -> Interval:
    """How much earlier a method has the words that annotators marked than a control, in average precision."""
    apart = (item_values(counted, method) - item_values(counted, control)).dropna().to_numpy(float)
    return mean_interval(apart[None]) if len(apart) else NOT_MEASURED


def comparisons(counted: pd.DataFrame) -> Iterator[tuple[str, str, Interval]]:
    """Each method compared with each control; of preferences each pair that was shown."""
    task = task_of(counted)
    if task == "preference":
        shown = counted.drop_duplicates(["condition", "against"])
        for method, other in zip(shown["condition"], shown["against"], strict=True):
            yield str(method), str(other), beyond_half(counted, str(method), str(other))
        return
    compare = above_control if task == "relevance" else finds_more
    for method in conditions(counted, control=False):
        for control in conditions(counted, control=True):
            yield method, control, compare(counted, method, control)


def task_of(table: pd.DataFrame) -> str:
    """What was asked."""
    return str(table["task"].iloc[0]) if len(table) else ""


def answer_codes(counted: pd.DataFrame) -> tuple[Float[ndarray, "annotator unit"], ndarray]:
    """Annotators' answers as numbers, NaN where there is none, and the item of each unit: an item, or a word of it."""
    rows = counted.drop_duplicates(["annotator", "item"])
    if task_of(counted) != "marking":
        wide = rows.pivot(index="annotator", columns="item", values="value")
        return wide.to_numpy(float), np.arange(wide.shape[1])
    wide = rows.pivot(index="annotator", columns="item", values="marks")
    lengths = [len(next(one for one in wide[item] if isinstance(one, str))) for item in wide.columns]
    parts = [
        [[float(mark) for mark in one] if isinstance(one, str) else [np.nan] * n for one in wide[item]]
        for item, n in zip(wide.columns, lengths, strict=True)
    ]
    return np.concatenate([np.array(part) for part in parts], axis=1), np.repeat(np.arange(len(lengths)), lengths)


def agreement(counted: pd.DataFrame) -> dict[str, Interval]:
    """Krippendorff's alpha and, for two annotators, Cohen's kappa; nothing for a single one."""
    if counted["annotator"].nunique() < 2:
        return {}
    answers, items = answer_codes(counted)
    found = {"kappa": cohen_kappa(answers, items)} if len(answers) == 2 else {}
    return {**found, "alpha": krippendorff_alpha(answers, items)}


def same_again(table: pd.DataFrame) -> Interval:
    """The share of repeated items that got the same answer from the same annotator."""
    rows = table[~table["annotator"].isin(left_out(table)) & (table["check"] == "")]
    rows = rows.drop_duplicates(["annotator", "item"])
    given = rows["marks"].where(rows["task"] == "marking", rows["answer"])
    again = rows["repeats"] != ""
    own = zip(rows["annotator"][~again], rows["item"][~again], given[~again], strict=True)
    first = {(who, item): answer for who, item, answer in own}
    pairs = [
        (first.get((who, item)), answer)
        for who, item, answer in zip(rows["annotator"][again], rows["repeats"][again], given[again], strict=True)
    ]
    known = [one == other for one, other in pairs if one is not None]
    return share_interval(sum(known), len(known)) if known else NOT_MEASURED


def checks_passed(table: pd.DataFrame) -> Interval:
    """The share of checks that were passed, all annotators together."""
    checks = table[table["check"] != ""]
    return share_interval(int((checks["check"] == "passed").sum()), len(checks)) if len(checks) else NOT_MEASURED


def cells(counted: pd.DataFrame, condition: str) -> dict[str, Interval]:
    """The four cells of Figure 5 for a condition, in per cent of its answers: right or wrong, relevant or not."""
    rows = counted[(counted["condition"] == condition) & counted["correct"].notna()]
    found = {}
    for name, correct, value in CELLS if len(rows) else ():
        inside = ((rows["correct"] == correct) & (rows["value"] == value)).astype(float)
        found[name] = share(inside.groupby(rows["item"]).mean().to_numpy(float)).scaled(100)
    return found


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Each condition: how many items and answers, its mean value with the interval, and the cells of Figure 5."""
    rows, counted = [], judged(table)
    for condition in dict.fromkeys(map(str, counted["condition"])):
        mine = counted[counted["condition"] == condition]
        mean = share(item_values(counted, condition).to_numpy(float))
        row = {
            "condition": condition,
            "items": mine["item"].nunique(),
            "answers": len(mine),
            "mean": mean.mean,
            "low": mean.low,
            "high": mean.high,
            "seconds (median)": mine["seconds"].median(),
        }
        in_table = cells(counted, condition) if task_of(counted) == "relevance" else {}
        rows.append({**row, **{f"{name} %": cell.mean for name, cell in in_table.items()}})
    return pd.DataFrame(rows)


def quantities(table: pd.DataFrame) -> dict[str, Interval]:
    """The numbers of the ledger: cells of Figure 5 in per cent, agreement, and the differences from controls."""
    counted = judged(table)
    found = dict(agreement(counted))
    if task_of(counted) == "relevance":
        for condition in dict.fromkeys(map(str, counted["condition"])):
            found |= {f"{condition}: {name}": cell for name, cell in cells(counted, condition).items()}
    return found | {f"{method} above {control}": apart for method, control, apart in comparisons(counted)}


def effects(table: pd.DataFrame) -> list[Effect]:
    """The comparisons, the first deciding; then the mean of each condition, agreement, repeats and checks."""
    counted = judged(table)
    found = [*compared(counted), *relevant_shares(counted)]
    names = {"kappa": "Cohen's kappa", "alpha": "Krippendorff's alpha"}
    items = counted["item"].nunique()
    for measure, value in agreement(counted).items():
        found.append(Effect.of(measure, f"agreement of annotators, {names[measure]}", value, measure, 0.0, items))
    for measure, value, name in (
        ("same_again", same_again(table), "repeated items with the same answer again"),
        ("checks_passed", checks_passed(table), "checks passed"),
    ):
        if value.mean == value.mean:
            found.append(Effect.of(measure, name, value, "share", 0.0, items))
    return found


def compared(counted: pd.DataFrame) -> Iterator[Effect]:
    """Each comparison as an effect; its number of items is that of the smaller side."""
    items = counted.groupby("condition")["item"].nunique()
    for method, other, apart in comparisons(counted):
        key, unit, smallest, label = COMPARED[task_of(counted)]
        n = int(min(items[method], items.get(other, items[method])))
        yield Effect.of(key, label.format(method, other), apart, unit, smallest, n, place=other, variant=method)


def relevant_shares(counted: pd.DataFrame) -> Iterator[Effect]:
    """The share of items that are judged relevant, of each condition."""
    for condition in dict.fromkeys(map(str, counted["condition"])) if task_of(counted) == "relevance" else ():
        values = item_values(counted, condition).to_numpy(float)
        label = f"{condition}: share judged relevant"
        yield Effect.of("relevant", label, share(values), "share", SMALLEST, len(values), variant=condition)
