"""The shares of heads' attention that lie on tagged words, per text and per corpus, compared with chance."""

from typing import Any

import numpy as np
import pandas as pd

from whence.measures.holm import holm
from whence.measures.intervals import linearised_ratios, mean_interval

ALPHA = 0.05
ROUNDING = 1e-12  # smaller differences from chance are none
TAGS = {"both": ("positive", "negative"), "v.pos": ("positive",), "v.neg": ("negative",)}  # in the paper's order


def shares(heads: np.ndarray, real: np.ndarray, tags: list[str]) -> list[dict[str, Any]]:
    """The rows of one text, from each head's attention [head token], which tokens are real [token], and their tags."""
    found = []
    for name, members in TAGS.items():
        mine = np.array([tag in members for tag in tags]) & real
        if mine.any():
            for head, attention in enumerate(heads):
                whole = float(attention[real].sum())
                found.append(
                    {
                        "head": head,
                        "tag": name,
                        "on": float(attention[mine].sum()),
                        "all": whole,
                        "even": whole * mine.sum() / real.sum(),
                        "tagged": int(mine.sum()),
                        "tokens": int(real.sum()),
                    }
                )
    return found


def above_chance(table: pd.DataFrame, tag: str) -> np.ndarray:
    """How far each head's share is above chance, by text: values whose mean over the texts is the corpus's [text head].

    The share is a ratio of sums over the texts; see `linearised_ratios`.
    """
    rows = table[table["tag"] == tag]
    on, whole, even = (
        rows.pivot_table(index="example", columns="head", values=name, aggfunc="sum").to_numpy(float)
        for name in ("on", "all", "even")
    )
    return linearised_ratios(on - even, whole)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """One row per tag and head: its share with an interval, chance on the same texts, and p corrected for all rows."""
    from scipy.stats import ttest_1samp  # slow to import

    rows = []
    for tag in (tag for tag in TAGS if (table["tag"] == tag).any()):
        mine = table[table["tag"] == tag]
        values = above_chance(table, tag)
        for place, (head, of_one) in enumerate(mine.groupby("head")):
            chance, more = of_one["even"].sum() / of_one["all"].sum(), values[:, place]
            more = np.where(np.abs(more) < ROUNDING, 0.0, more)
            found, varies = mean_interval(more[None], 1 - ALPHA), len(more) > 1 and np.ptp(more) > 0
            p = ttest_1samp(more, 0.0).pvalue if varies else float(found.mean == 0)
            rows.append(
                {
                    "tag": tag,
                    "head": head,
                    "share": chance + found.mean,
                    "low": chance + found.low,
                    "high": chance + found.high,
                    "chance": chance,
                    "of tokens": of_one["tagged"].sum() / of_one["tokens"].sum(),
                    "texts": len(of_one),
                    "p": p,
                }
            )
    made = pd.DataFrame(rows)
    return made.assign(p_holm=holm(made["p"].to_numpy(float)))
