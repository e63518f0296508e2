"""Numbers from the table of `correlation`: how well rankings of words agree."""

import numpy as np
import pandas as pd

from whence.measures.intervals import Interval, crossed_share_interval, mean_interval

ATTENTION = "raw_attention"
SIGNIFICANT = 0.05


def pairs(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The texts that have a τ, by pair of explainers; attention's first."""
    known = table[table["tau"].notna()]
    named = table[["first", "second"]].drop_duplicates().itertuples(index=False)
    return {
        f"{_method_name(first)} and {_method_name(second)}": known[
            (known["first"] == first) & (known["second"] == second)
        ]
        for first, second in named
    }


def agreement(table: pd.DataFrame) -> pd.DataFrame:
    """The mean τ of every explainer with every other, as a square table with an empty diagonal."""
    there = table[["first", "second", "tau"]]
    both = pd.concat([there, there.rename(columns={"first": "second", "second": "first"})])
    order = list(dict.fromkeys([*table["first"], *table["second"]]))
    return both.pivot_table("tau", "first", "second").reindex(index=order, columns=order)


def _method_name(method: str) -> str:
    return "attention" if method == ATTENTION else method


def classes(table: pd.DataFrame) -> list[str]:
    """The predicted classes, where texts have one."""
    return sorted(str(name) for name in table["prediction"].unique() if name)


def by_class(table: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard deviation of τ over the texts, and the share that is significant; by predicted class."""
    rows = []
    for pair, known in pairs(table).items():
        for name in ["all", *classes(table)]:
            there = known if name == "all" else known[known["prediction"] == name]
            if len(there):
                rows.append(
                    {
                        "pair": pair,
                        "predicted": name,
                        "texts": len(there),
                        "mean": there["tau"].mean(),
                        "SD": there["tau"].std(ddof=0),
                        "significant": _significant(there).mean(),
                        "significant, above 0": (_significant(there) & (there["tau"] > 0)).mean(),
                    }
                )
    return pd.DataFrame(rows)


def _significant(table: pd.DataFrame) -> "pd.Series[bool]":
    return table["p"] <= SIGNIFICANT


def numbers(table: pd.DataFrame) -> dict[str, Interval]:
    """τ, its standard deviation, and the share that is significant, of every pair; of all texts and of each class."""
    found = {}
    for pair, known in pairs(table).items():
        for name in ["", *(f", {one}" for one in classes(table))]:
            there = known if not name else known[known["prediction"] == name.removeprefix(", ")]
            if len(there):
                found[f"τ of {pair}{name}"] = mean_interval(there["tau"].to_numpy(float)[None])
                found[f"SD of τ of {pair}{name}"] = Interval(float(there["tau"].std(ddof=0)), np.nan, np.nan)
                share = _significant(there).to_numpy(float)
                found[f"significant, {pair}{name}"] = crossed_share_interval(share[None])
    return found
