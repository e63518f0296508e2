"""The table of `guide` in numbers: how well models do under each source of attention."""

from typing import Any

import numpy as np
import pandas as pd

from whence.analysis.adversary import as_share
from whence.analysis.scores import loses, measured, summed
from whence.measures.bootstrap import Interval, Measure, interval, paired_bootstrap_of, resampled
from whence.results.verdict import Effect

SMALLEST = 2.0  # points
WORDS = {"uniform": "equal weights", "random": "random weights", "permuted": "the same weights in random order",
         "none": "nothing imposed"}  # fmt: skip


def sources(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The rows of each source, an adversary's by its λ, each by seed and example."""
    found = {}
    for (source, strength), rows in table.groupby(["source", "strength"], sort=False, dropna=False):
        name = f"adversary {strength:g}" if source == "adversary" else str(source)
        found[name] = rows.sort_values(["seed", "example"])
    return found


def counted(rows: pd.DataFrame) -> tuple[Measure, np.ndarray]:
    """The measure, and what it is summed from: [seed example count]."""
    measure, counts = summed(rows["score"], rows["counts"])
    return measure, counts.reshape(rows["seed"].nunique(), -1, counts.shape[-1])


def numbers(table: pd.DataFrame) -> dict[str, Interval]:
    """`score under base` and the like, with intervals over examples and seeds."""
    found: dict[str, Interval] = {}
    for name, rows in sources(table).items():
        measure, counts = counted(rows)
        mean = float(measure(counts.sum(1)).mean())
        score = interval(mean, resampled(measure, counts)[:, 0])
        found |= {f"score under {name}": score, f"share under {name}": as_share(score)}
    return found


def reached(table: pd.DataFrame) -> pd.DataFrame:
    """One row for each source."""
    rows = [{"source": name.removeprefix("score under "), measured(table["counts"]): one.mean, "low": one.low,
             "high": one.high} for name, one in numbers(table).items() if name.startswith("score")]  # fmt: skip
    return pd.DataFrame(rows).round(2)


def effects(table: pd.DataFrame, seed: int = 0) -> list[Effect]:
    """What is lost where other weights are imposed than this model's; equal ones first."""
    by_source = sources(table)
    if "base" not in by_source or len(by_source) < 2:
        return []
    measure, base = counted(by_source.pop("base"))
    unit = f"points of {measured(table['counts'])} lost"
    found = []
    for name, rows in by_source.items():
        _, other = counted(rows)
        one = paired_bootstrap_of(measure, base, other, seed=seed, level=1 - 0.05 / len(by_source))
        said = WORDS.get(name, f"the attention of an adversary with λ = {name.removeprefix('adversary ')}")
        found.append(Effect(f"{said} instead of this model's attention", one.mean, one.low, one.high, unit, SMALLEST,
                            base.shape[1], base.shape[0]))  # fmt: skip
    return sorted(found, key=lambda effect: not effect.name.startswith(WORDS["uniform"]))


def levels(table: pd.DataFrame) -> list[Effect]:
    """How well models do under each source: what can be shown where there is nothing to compare with."""
    unit, rows = f"points of {measured(table['counts'])}", numbers(table)
    return [
        Effect(WORDS.get(name.removeprefix("score under "), name), one.mean, one.low, one.high, unit, 0.0,
               table["example"].nunique(), table["seed"].nunique())
        for name, one in rows.items() if name.startswith("score")
    ]  # fmt: skip


def decided(found: list[Effect], table: pd.DataFrame) -> tuple[Any, str]:
    """Yes if equal weights lose more than the smallest effect of interest, no if they lose less."""
    if not found:
        return "undecided", "This model's attention was not set beside other weights; name base and uniform as sources."
    effect = found[0]
    if effect.too_few:
        return "undecided", effect.too_few
    which = effect.name.removesuffix(" instead of this model's attention")
    said = f"a model that is given {which} instead {loses(effect)}"
    if effect.low > effect.smallest:
        return "yes", f"The attention helps another model: {said}."
    if effect.high < effect.smallest:
        return "no", f"The attention does not help another model: {said}."
    return "undecided", f"Whether the attention helps another model is not clear: {said}."
