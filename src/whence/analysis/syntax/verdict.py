"""Numbers, effects and verdict from the table of `syntax`."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from whence.analysis.syntax.heads import ALPHA, SMALLEST, ranking
from whence.measures.intervals import Interval
from whence.results.verdict import Effect


def named_quantities(table: pd.DataFrame) -> dict[str, Interval]:
    """The quantities of a study's ledger.

    `parents before, true` (in per cent); `KL to uniform, sees past, epoch 3`, mean over the heads of the sites that see
    so much; `change of KL to true, sees past`, from the first epoch to the last; `KL to true less to uniform, sees
    past, epoch 3` (or `at the end`), and its change. Of the heads, those of `head_quantities`.
    """
    found = {
        f"parents before, {tree}": Interval(100 * float(of["before"].iloc[0]), np.nan, np.nan)
        for tree, of in table.groupby("tree", sort=False)
    }
    means = table[table["head"] == -1]
    for (sees, tree), of in means.groupby(["sees", "tree"], sort=False):
        for epoch, value in by_epoch(of, "divergence").items():
            found[f"KL to {tree}, sees {sees}, epoch {epoch}"] = value
        found[f"change of KL to {tree}, sees {sees}"] = change(of, "divergence")
        differing = by_epoch(of, "difference")
        for epoch, value in differing.items():
            found[f"KL to true less to {tree}, sees {sees}, epoch {epoch}"] = value
        if differing:
            found[f"KL to true less to {tree}, sees {sees}, at the end"] = list(differing.values())[-1]
            found[f"change of KL to true less to {tree}, sees {sees}"] = change(of, "difference")
    return {**found, **head_quantities(ranking(table))}


def change(rows: pd.DataFrame, column: str) -> Interval:
    """From the first epoch to the last."""
    return Interval(
        float(rows.groupby("epoch", sort=False)[column].mean().iloc[[0, -1]].diff().iloc[-1]), np.nan, np.nan
    )


def head_quantities(ranked: pd.DataFrame) -> dict[str, Interval]:
    """In per cent: the heads that are surely nearer to the true trees than to every kind of random ones; whether there
    is one (over many untrained models, the rate of false alarms); the parents that the best head and the best fixed
    offset find. In nats: how near the surest head is to the true trees, less to the random ones it is nearest to.
    """
    follow, first = ranked["p_holm"] < ALPHA, ranked.iloc[0]
    best = ranked.iloc[int(ranked["attachment"].to_numpy().argmax())]
    found = {
        "heads that follow syntax, %": 100 * follow.mean(),
        "models with such a head, %": 100 * follow.any(),
        "parents found by the best head, %": 100 * best["attachment"],
        "parents found by the best offset, %": 100 * best["by offset"],
    }
    nearest = Interval(float(first["difference"]), float(first["low"]), float(first["high"]))
    bare = {name: Interval(float(value), np.nan, np.nan) for name, value in found.items()}
    return {**bare, "KL to true less to the nearest random, surest head": nearest}


def by_epoch(rows: pd.DataFrame, column: str) -> dict[int, Interval]:
    """A number with its interval, in each epoch that has it."""
    columns = [column, f"{column}_low", f"{column}_high"]
    each = rows.dropna(subset=column).groupby("epoch", sort=False)[columns].mean()
    return {
        int(epoch): Interval(*map(float, values)) for epoch, values in zip(each.index, each.to_numpy(), strict=True)
    }


def differences(table: pd.DataFrame) -> list[Effect]:
    """How near the surest head is, and how near all heads of each site are, to true trees less random ones."""
    ranked = ranking(table)
    first, n = ranked.iloc[0], int(table["sentences"].max())
    where = f"{first['site']}, head {first['head']}"
    label = f"divergence from the true trees at {where}, less from {first['nearest']} trees, which it is nearest to"
    measured = Interval(float(first["difference"]), float(first["low"]), float(first["high"]))
    nearest = str(first["nearest"])
    found = [Effect.of("divergence", label, measured, "nats", SMALLEST, n, place=where, variant=nearest)]
    means = table[(table["epoch"] == table["epoch"].iloc[-1]) & (table["head"] == -1) & table["difference"].notna()]
    for site, of in means.groupby("site", sort=False):
        row = of.loc[of["difference"].idxmax()]
        label = f"divergence from the true trees at {site}, mean of its heads, less from {row['tree']} trees"
        found.append(difference(row.to_dict(), label, n))
    return found


def difference(row: "Mapping[Any, Any] | pd.Series[Any]", label: str, n: int) -> Effect:
    """How much nearer the heads of a site are, on average, to true trees than to those of a row."""
    measured = Interval(*(float(row[f"difference{end}"]) for end in ("", "_low", "_high")))
    return Effect.of("divergence", label, measured, "nats", SMALLEST, n, place=row["site"], variant=row["tree"])


def decide(ranked: pd.DataFrame, best: Effect) -> tuple[Any, str]:
    """Yes if a head is surely nearer by more than the smallest effect; no if surely none is."""
    if best.too_few:
        return "undecided", best.too_few
    below, n = int((ranked["p_holm"] < ALPHA).sum()), len(ranked)
    better = int((ranked["attachment_p_holm"] < ALPHA).sum())
    many = f"{below} of {n} heads are" if below != 1 else f"1 of {n} heads is"
    much = (
        f"{many} nearer to the true trees than to every kind of random ones by more than {SMALLEST:g} nats; the surest"
        f" by {-best.value:.2f} ({-best.high:.2f} to {-best.low:.2f}). {better} of {n} find the parent more often than"
        f" the best fixed offset does ({100 * ranked['attachment'].max():.0f} % of words against"
        f" {100 * ranked['by offset'].iloc[ranked['attachment'].argmax()]:.0f} % at most)."
    )
    if below:
        return "yes", f"Attention follows syntax: {much}"
    if (ranked["low"] > -SMALLEST).all():
        return "no", f"Attention is hardly nearer to syntax than to random trees: {much}"
    return "undecided", f"Attention may or may not be nearer to syntax than to random trees: {much}"


def trend(table: pd.DataFrame) -> str:
    """How the divergences changed in training, in a sentence; empty for one epoch."""
    if table["epoch"].nunique() < 2:
        return ""
    means = table[table["head"] == -1].groupby(["tree", "epoch"], sort=False)["divergence"].mean()
    moved = {tree: means[tree].iloc[-1] - means[tree].iloc[0] for tree in table["tree"].unique()}
    changes = ", ".join(f"{tree} {change:+.2f}" for tree, change in moved.items())
    return f" From the first epoch to the last, the mean divergence of all heads changed by: {changes}."
