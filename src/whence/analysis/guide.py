"""Numbers from the table of `guide`: scores of models under each source of attention."""

from typing import Any

import numpy as np
import pandas as pd

from whence.analysis.scores import describe_loss, loss_interval, metric_and_counts, metric_name, score_interval
from whence.measures.intervals import Interval, Measure, level_for
from whence.results.verdict import Effect

SMALLEST = 2.0  # points
WORDS = {
    "uniform": "uniform attention",
    "random": "random attention",
    "permuted": "the same attention in random order",
    "none": "nothing imposed",
}


def sources(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The rows of each source, an adversary's by its λ, each by seed and example."""
    found = {}
    for (source, strength), rows in table.groupby(["source", "strength"], sort=False, dropna=False):
        name = f"adversary {strength:g}" if source == "adversary" else str(source)
        found[name] = rows.sort_values(["seed", "example"])
    return found


def metric_by_seed(rows: pd.DataFrame) -> tuple[Measure, np.ndarray]:
    """The metric, and its counts: [seed example count]."""
    measure, counts = metric_and_counts(rows["score"], rows["counts"])
    return measure, counts.reshape(rows["seed"].nunique(), -1, counts.shape[-1])


def numbers(table: pd.DataFrame) -> dict[str, Interval]:
    """`score under base` and the like, with intervals over examples and seeds."""
    found: dict[str, Interval] = {}
    for source, score in scores(table).items():
        found |= {f"score under {source}": score, f"share under {source}": score.scaled(0.01)}
    return found


def scores(table: pd.DataFrame) -> dict[str, Interval]:
    """The score of the models under each source, in points, with intervals over examples and seeds."""
    found = {}
    for source, rows in sources(table).items():
        found[source] = score_interval(*metric_by_seed(rows))
    return found


def source_scores(table: pd.DataFrame) -> pd.DataFrame:
    """One row for each source."""
    unit = metric_name(table["counts"])
    rows = [
        {"source": source, unit: one.mean, "low": one.low, "high": one.high} for source, one in scores(table).items()
    ]
    return pd.DataFrame(rows).round(2)


def effects(table: pd.DataFrame) -> list[Effect]:
    """What is lost where other attention than this model's is imposed; uniform attention first."""
    by_source = sources(table)
    if "base" not in by_source or len(by_source) < 2:
        return []
    measure, base = metric_by_seed(by_source.pop("base"))
    unit = f"points of {metric_name(table['counts'])} lost"
    found = []
    for name, rows in by_source.items():
        _, other = metric_by_seed(rows)
        one = loss_interval(measure, base, other, level_for(len(by_source)))
        label, (seeds, n) = f"{describe_source(name)} instead of this model's attention", base.shape[:2]
        found.append(Effect.of("score_lost", label, one, unit, SMALLEST, n, seeds, variant=name))
    return sorted(found, key=lambda effect: effect.variant != "uniform")


def describe_source(source: str) -> str:
    """One of the `sources` in words."""
    return WORDS.get(source, f"the attention of an {source}")


def levels(table: pd.DataFrame) -> list[Effect]:
    """The score under each source, shown where there is no base to compare with."""
    unit, n, seeds = f"points of {metric_name(table['counts'])}", table["example"].nunique(), table["seed"].nunique()
    return [
        Effect.of("score", WORDS.get(source, source), score, unit, 0.0, n, seeds, variant=source)
        for source, score in scores(table).items()
    ]


def decide(found: list[Effect], table: pd.DataFrame) -> tuple[Any, str]:
    """Yes if uniform attention loses more than the smallest effect of interest, no if it loses less."""
    if not found:
        return (
            "undecided",
            "This model's attention was not compared with other attention; add the sources base and uniform.",
        )
    effect = found[0]
    if effect.too_few:
        return "undecided", effect.too_few
    evidence = f"a model that is given {describe_source(effect.variant)} instead {describe_loss(effect)}"
    if effect.low > effect.smallest:
        return "yes", f"The attention helps another model: {evidence}."
    if effect.high < effect.smallest:
        return "no", f"The attention does not help another model: {evidence}."
    return "undecided", f"Whether the attention helps another model is not clear: {evidence}."
