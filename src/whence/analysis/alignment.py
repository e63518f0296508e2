"""Numbers and figures from the table of `alignment`: error rates of every head, and of the chosen one."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from whence.core.errors import BadData
from whence.data.examples import Example
from whence.figures.alignment_heatmap import alignment_heatmap
from whence.figures.bars import bars
from whence.figures.heatmap import heatmap
from whence.measures.alignment_error import error_rate, precision, recall
from whence.measures.intervals import Interval, corpus_interval, corpus_loss_interval, level_for

ATTENTION, DIAGONAL, RANDOM = "attention", "diagonal", "random"
CHOOSING, REPORTING = "choosing", "reporting"
COUNTS = ["found", "sure", "found_sure", "found_possible"]
CANDIDATE = ["by", "site", "layer", "head", "step"]
MEASURES: dict[str, Callable[[Any], Any]] = {
    "alignment error rate": error_rate,
    "precision": precision,
    "recall": recall,
}
SHOWN = 16  # heads in a figure
DRAWABLE = range(4, 15)  # words of a text that is drawn


def refuse_unlinked(examples: Sequence[Example], data: str) -> None:
    """Refuse a corpus without reference links."""
    lacking = sum(example.alignment is None for example in examples)
    if lacking:
        raise BadData(
            f"{lacking} of {len(examples)} examples of {data} have no reference links between the words of the text and"
            " of its translation; take a corpus that has them: numerals, multi30k:aligned"
        )
    if not any(example.alignment for example in examples):
        raise BadData(
            f"the {len(examples)} examples of {data} have no reference link at all; expected links like 0-0 1-2"
        )


def drawable_pair(examples: Sequence[Example]) -> int | None:
    """The index of a pair short enough to draw, if any: the first whose links cross, else the first."""
    fitting = [
        number
        for number, example in enumerate(examples)
        if len(example.words or ()) in DRAWABLE and len((example.target or "").split()) in DRAWABLE
    ]
    crossing = (number for number in fitting if _cross(examples[number].alignment or ()))
    return next(crossing, fitting[0] if fitting else None)


def _cross(links: Sequence[tuple[int, int]]) -> bool:
    return any(i < k and j > m for i, j in links for k, m in links)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """One row per head and step, and per baseline: its error rate on the selection half, and on the other
    half its error rate, precision and recall. The best on the first half comes first.
    """
    halves = [
        table[table["half"] == half].groupby(CANDIDATE, sort=False)[COUNTS].sum() for half in (CHOOSING, REPORTING)
    ]
    chosen, reported = (half.loc[halves[0].index].to_numpy(float) for half in halves)
    found = halves[0].index.to_frame(index=False)
    found[CHOOSING] = error_rate(chosen)
    for name, measure in MEASURES.items():
        found[name] = measure(reported)
    order = found.assign(last=found["by"] != ATTENTION).sort_values(["last", CHOOSING], kind="stable").index
    return found.loc[order].reset_index(drop=True)


def best(table: pd.DataFrame) -> dict[str, Any]:
    """The head and step with the lowest error rate on the selection half of the sentences."""
    first = summary(table).iloc[0]
    return {name: first[name] for name in CANDIDATE}


def describe_candidate(who: Mapping[str, Any]) -> str:
    """A head and step, or a baseline, in words."""
    if who["by"] != ATTENTION:
        return str(who["by"])
    head = f"head {who['head']}" if who["head"] >= 0 else "mean of its heads"
    return f"layer {who['layer']}, {head}, {who['step']}"


def counts_of(table: pd.DataFrame, who: Mapping[str, Any]) -> np.ndarray:
    """|A|, |S|, |A ∩ S| and |A ∩ P| of the reporting half of the sentences, [1 example count]."""
    mine = table["half"] == REPORTING
    for name in CANDIDATE:
        mine &= table[name] == who[name]
    return table.loc[mine].sort_values("example")[COUNTS].to_numpy(float)[None]


def baseline(by: str) -> dict[str, Any]:
    """The columns that identify a baseline's rows."""
    return {"by": by, "site": "", "layer": -1, "head": -1, "step": ""}


def reported(table: pd.DataFrame, who: Mapping[str, Any], name: str) -> Interval:
    """A measure on the reporting half, with an interval over sentences."""
    return corpus_interval(MEASURES[name], counts_of(table, who), whole=1.0)


def lower_by(table: pd.DataFrame, than: Mapping[str, Any]) -> Interval:
    """How much lower the error rate of the chosen head is than another's, on the reporting half."""
    base, chosen = counts_of(table, than), counts_of(table, best(table))
    return corpus_loss_interval(error_rate, base, chosen, level_for(2), whole=1.0)


def chosen_and_baselines(table: pd.DataFrame) -> Figure:
    """Error rate, precision and recall of the chosen head, compared with links on the diagonal and random links."""
    rows = []
    for name in MEASURES:
        for who in (best(table), baseline(DIAGONAL), baseline(RANDOM)):
            found = reported(table, who, name)
            label = f"{name} (lower is better)" if lower_is_better(name) else name
            rows.append(
                {"measure": label, "links": _short(who), "value": found.mean, "low": found.low, "high": found.high}
            )
    return bars(pd.DataFrame(rows), "measure", "links", "value", "low", "high", "share, with 95 % intervals")


def lower_is_better(name: str) -> bool:
    """Whether lower is better."""
    return MEASURES[name] is error_rate


def _short(who: Mapping[str, Any]) -> str:
    return (
        describe_candidate(who)
        if who["by"] == ATTENTION
        else {DIAGONAL: "on the diagonal", RANDOM: "by chance"}[who["by"]]
    )


def by_head(table: pd.DataFrame) -> Figure:
    """The error rate of every head in both steps, on the reporting half; only the lowest are shown."""
    rows, chosen = summary(table), best(table)
    rows = rows[rows["by"] == ATTENTION]
    heads = rows.groupby("head")["alignment error rate"].min().nsmallest(SHOWN).index.sort_values()
    rows = rows.assign(
        row="layer " + rows["layer"].astype(str) + ", " + rows["step"],
        mine=(rows[CANDIDATE] == pd.Series(chosen)).all(axis=1),
    )
    order = rows.sort_values(["step", "layer"], kind="stable")["row"].unique()
    cells, marked = (
        rows.pivot(index="row", columns="head", values=value)
        .loc[order, heads]
        .rename(columns=lambda head: str(head) if head >= 0 else "mean")
        for value in ("alignment error rate", "mine")
    )
    less = f"; the {SHOWN} with the lowest" if rows["head"].nunique() > SHOWN else ""
    return heatmap(cells, ("mean",), marked, f"head{less}", "error rate; bold: chosen")


def sentence_heatmap(table: pd.DataFrame) -> Figure | None:
    """The attention of the chosen head in one pair of sentences; None if no pair was kept."""
    chosen = best(table)
    mine = table["shown"].notna()
    for name in CANDIDATE:
        mine &= table[name] == chosen[name]
    if not mine.any():
        return None
    shown = json.loads(table.loc[mine, "shown"].iloc[0])
    links = [(i, j) for i, j in shown["links"]]
    return alignment_heatmap(
        shown["source"], shown["target"], np.array(shown["weights"]), links, describe_candidate(chosen)
    )


def without_texts(table: pd.DataFrame) -> pd.DataFrame:
    """The same table with the words that are shown numbered: for pages on corpora that may not be redistributed."""

    def numbered(shown: Any) -> Any:
        kept = None if pd.isna(shown) else json.loads(shown)
        sides = ("source", "target")
        return kept and json.dumps({**kept, **{s: [f"word {i + 1}" for i in range(len(kept[s]))] for s in sides}})

    return table.assign(shown=pd.array([numbered(shown) for shown in table["shown"]], dtype=pd.StringDtype()))
