"""Numbers from the table of `instance_adversary`: how far attention could be moved."""

import pandas as pd

from whence.measures.bootstrap import NOT_MEASURED, Interval, paired_bootstrap
from whence.results.verdict import Effect

VERY_DIFFERENT = 0.2  # nats of JSD: very different attention above it
MOST = 0.5  # of the texts


def by_limit(table: pd.DataFrame) -> dict[float, pd.DataFrame]:
    """The rows of each limit, the strictest first, of texts that could have another attention."""
    there = table[table["inputs"] > 1]
    return {limit: there[there["limit"] == limit] for limit in sorted(table["limit"].unique())}


def effects(table: pd.DataFrame, seed: int = 0) -> list[Effect]:
    """For every limit the share of texts with very different attention, the strictest limit first.

    Bootstrap intervals over the examples, which hold for all limits together (Bonferroni).
    """
    found, limits = [], by_limit(table)
    for limit, rows in limits.items():
        share, level = (rows["jsd"] > VERY_DIFFERENT).to_numpy(float), 1 - 0.05 / len(limits)
        measured = paired_bootstrap(share[None], level=level, seed=seed) if len(rows) else NOT_MEASURED
        label = (
            f"texts with very different attention (JSD above {VERY_DIFFERENT:g}) while the prediction moves by at most"
            f" {limit:g}"
        )
        found.append(
            Effect.of("attended_differently", label, measured, "of the texts", MOST, len(rows), variant=f"{limit:g}")
        )
    return found


def numbers(table: pd.DataFrame) -> dict[str, Interval]:
    """`JSD within 0.01`, the mean, and `quite different within 0.01`, the share of texts; for every limit."""
    found = {}
    for limit, rows in by_limit(table).items():
        for name, values in (("JSD", rows["jsd"]), ("quite different", rows["jsd"] > VERY_DIFFERENT)):
            found[f"{name} within {limit:g}"] = paired_bootstrap(values.to_numpy(float)[None])
    return found


def quartiles(table: pd.DataFrame) -> pd.DataFrame:
    """How far attention could be moved, within each limit: quartiles of JSD, and the share of texts."""
    rows = []
    for limit, there in by_limit(table).items():
        low, middle, high = there["jsd"].quantile([0.25, 0.5, 0.75])
        rows.append(
            {
                "limit": limit,
                "texts": len(there),
                "found": there["met"].mean(),
                "JSD": there["jsd"].mean(),
                "lower quartile": low,
                "median": middle,
                "upper quartile": high,
                "quite different": (there["jsd"] > VERY_DIFFERENT).mean(),
            }
        )
    return pd.DataFrame(rows)
