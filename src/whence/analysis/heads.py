"""The shares of heads' attention that lie on tagged words, per text and per corpus, compared with chance."""

from typing import Any

import numpy as np
import pandas as pd

from whence.measures.bootstrap import resampled
from whence.measures.holm import holm

ALPHA = 0.05
TAGS = {"both": ("positive", "negative"), "v.pos": ("positive",), "v.neg": ("negative",)}  # in the paper's order


def shares(heads: np.ndarray, real: np.ndarray, tags: list[str]) -> list[dict[str, Any]]:
    """The rows of one text, from each head's attention [head token], which tokens are real [token], and their tags."""
    found = []
    for name, members in TAGS.items():
        mine = np.array([tag in members for tag in tags]) & real
        if mine.any():
            for head, attention in enumerate(heads, start=1):
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


def bootstrap_above_chance(table: pd.DataFrame, tag: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """How far each head's share is above chance [head], and the same for resampled texts [draw head]."""
    rows = table[table["tag"] == tag]
    counts = [
        of_one.groupby("example")[["on", "all", "even"]].sum().to_numpy(float)[None]
        for _, of_one in rows.groupby("head")
    ]
    return above_chance(np.stack([one.sum(1)[0] for one in counts])), resampled(above_chance, *counts, seed=seed)


def above_chance(sums: np.ndarray) -> np.ndarray:
    """The share of the attention that lies on tagged words, less chance; from sums of on, all and even."""
    return np.asarray((sums[..., 0] - sums[..., 2]) / sums[..., 1])


def summary(table: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """One row per tag and head: its share with an interval, chance on the same texts, and p corrected for all rows."""
    from scipy.stats import norm  # slow to import

    rows = []
    for tag in (tag for tag in TAGS if (table["tag"] == tag).any()):
        mine = table[table["tag"] == tag]
        more, draws = bootstrap_above_chance(table, tag, seed)
        for place, (head, of_one) in enumerate(mine.groupby("head")):
            chance, spread = of_one["even"].sum() / of_one["all"].sum(), draws[:, place].std()
            low, high = np.quantile(draws[:, place], [ALPHA / 2, 1 - ALPHA / 2])
            p = 2 * norm.sf(abs(more[place]) / spread) if spread > 0 else float(more[place] == 0)
            rows.append(
                {
                    "tag": tag,
                    "head": head,
                    "share": chance + more[place],
                    "low": chance + low,
                    "high": chance + high,
                    "chance": chance,
                    "of tokens": of_one["tagged"].sum() / of_one["tokens"].sum(),
                    "texts": len(of_one),
                    "p": p,
                }
            )
    found = pd.DataFrame(rows)
    return found.assign(p_holm=holm(found["p"].to_numpy(float)))
