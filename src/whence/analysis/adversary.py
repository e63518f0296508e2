"""Numbers from the table of `adversary`: distances from the base model, and whether scores break down as λ grows."""

from typing import Any

import numpy as np
import pandas as pd

from whence.analysis.gates import why_gated
from whence.analysis.instance_adversary import FEW, MOST, VERY_DIFFERENT
from whence.analysis.scores import metric_and_counts, metric_name, score_interval
from whence.measures.intervals import Interval, crossed_share_interval, level_for, mean_interval
from whence.results.verdict import Answer, Effect

MAX_CHANGE = 0.1  # largest TVD at which a prediction counts as the same
BREAK = 5.0  # points: a smaller gap between two models is no break
WIDEST = 0.5  # of the range from worst to best score: a wider gap separates two groups
JUDGED = {"exclusive": "yes", "not exclusive": "no"}
NAMES = {"JSD": "jsd", "JSD matched": "jsd_matched", "KL": "kl_cells", "TVD": "tvd", "NLL": "nll"}
ENDS = {
    "JSD": (0.0, float(np.log(2))),
    "JSD matched": (0.0, float(np.log(2))),
    "TVD": (0.0, 1.0),
}  # where there are any


def groups(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The rows by kind of model: base, λ of an adversary, seeds, uniform."""
    found = {"base": table[table["who"] == "base"]}
    adversaries = table[table["who"] == "adversary"]
    for strength in sorted(adversaries["strength"].unique()):
        found[f"{strength:g}"] = adversaries[adversaries["strength"] == strength]
    found |= {"seeds": table[table["who"] == "seed"], "uniform": table[table["who"] == "uniform"]}
    return {name: rows for name, rows in found.items() if len(rows)}


def outcomes(table: pd.DataFrame) -> pd.DataFrame:
    """One row for each model."""
    rows = []
    for (who, strength, seed), of_one in table.groupby(["who", "strength", "seed"], sort=False, dropna=False):
        measure, counts = metric_and_counts(of_one["score"], of_one["counts"])
        means = {name: float(of_one[column].mean()) for name, column in NAMES.items()}
        rows.append(
            {
                "who": who,
                "λ": strength,
                "seed": seed,
                **means,
                "same answer": float(of_one["same"].mean()),
                metric_name(table["counts"]): float(measure(counts.sum(0))),
            }
        )
    return pd.DataFrame(rows)


def numbers(table: pd.DataFrame) -> dict[str, Interval]:
    """`JSD at 0.2` and the like, with intervals over examples and seeds."""
    found = {}
    for name, rows in groups(table).items():
        rows = rows.sort_values(["seed", "example"])
        n_seed = rows["seed"].nunique()
        for quantity, column in NAMES.items():
            values = rows[column].to_numpy(float).reshape(n_seed, -1)
            found[f"{quantity} at {name}"] = mean_interval(values, within=ENDS.get(quantity))
        measure, counts = metric_and_counts(rows["score"], rows["counts"])
        by_seed = counts.reshape(n_seed, -1, counts.shape[-1])
        score = score_interval(measure, by_seed)
        found |= {f"score at {name}": score, f"share at {name}": score.scaled(0.01)}
    models = outcomes(table)
    models = models[models["who"] == "adversary"]
    broke = broken_adversaries(models, metric_name(table["counts"]))
    least = np.nan if broke is None else float(models.loc[broke, "KL"].min())
    answer, _ = decide(effects(table), why_gated(table))
    judged = {f"judged {outcome}, %": 100.0 * (answer == given) for outcome, given in JUDGED.items()}
    single = {"KL of the first that broke": least, **judged}
    return {**found, **{name: Interval(value, np.nan, np.nan) for name, value in single.items()}}


def by_strength(table: pd.DataFrame) -> pd.DataFrame:
    """The adversaries of each λ in one row: means over examples and seeds, with intervals."""
    found, rows = numbers(table), []
    for strength in sorted(table.loc[table["who"] == "adversary", "strength"].unique()):
        row = {"λ": strength}
        for name in NAMES:
            one = found[f"{name} at {strength:g}"]
            row |= {name: one.mean, f"{name} low": one.low, f"{name} high": one.high}
        rows.append(row)
    return pd.DataFrame(rows)


def attended_differently(rows: pd.DataFrame) -> Any:
    """Texts with very different attention and the same prediction: [seed example]."""
    rows = rows.sort_values(["seed", "example"])
    there = (rows["jsd_matched"] > VERY_DIFFERENT) & (rows["tvd"] <= MAX_CHANGE) & (rows["same"] == 1.0)
    return there.to_numpy(float).reshape(rows["seed"].nunique(), -1)


def effects(table: pd.DataFrame) -> list[Effect]:
    """The share of texts to which another model attends very differently with the same prediction: for the λ with most
    of them first, then for the other λ, other seeds and uniform attention.
    """
    adversaries = [name for name in groups(table) if name not in ("base", "seeds", "uniform")]
    found = []
    for name, rows in groups(table).items():
        if name == "base":
            continue
        share = attended_differently(rows)
        level = level_for(max(len(adversaries), 1))
        one = crossed_share_interval(share, level)
        label = f"texts to which {describe_model(name)} attends very differently with the same prediction"
        seeds, n = share.shape
        found.append(Effect.of("attended_differently", label, one, "of the texts", MOST, n, seeds, variant=name))
    by_adversary = sorted((e for e in found if e.variant in adversaries), key=lambda effect: -effect.value)
    return by_adversary + [effect for effect in found if effect.variant not in adversaries]


def describe_model(variant: str) -> str:
    """One of the `groups` in words."""
    others = {"seeds": "the same training from other seeds", "uniform": "a model trained with uniform attention"}
    return others.get(variant, f"an adversary with λ = {variant}")


def decide(found: list[Effect], why_undecidable: str = "") -> tuple[Answer, str]:
    """No if one adversary attends very differently to most texts; yes if each does so to few."""
    best, yardstick = found[0], [effect for effect in found if effect.variant == "seeds"]
    if why_undecidable or best.too_few:
        return "undecided", why_undecidable or best.too_few
    does = f"attends very differently to {_per_cent(best)} of {best.n} texts with the same predictions"
    compared = f" (the same training from other seeds: {_per_cent(yardstick[0])})" if yardstick else ""
    which = describe_model(best.variant)
    if best.low > MOST:
        return "no", f"Other attention leads to the same predictions: {which} {does}{compared}."
    if best.high < FEW:
        return "yes", f"No model was found that attends differently and predicts the same: {which} {does}{compared}."
    return "undecided", f"For some texts other attention leads to the same predictions: {which} {does}{compared}."


def _per_cent(effect: Effect) -> str:
    return f"{100 * effect.value:.0f} % ({100 * effect.low:.0f} to {100 * effect.high:.0f})"


def broken_adversaries(models: pd.DataFrame, unit: str) -> "pd.Series[bool] | None":
    """Which adversaries broke down, if any: those below the widest gap between neighbouring scores, where it is more
    than half of the range from worst to best.
    """
    scores = np.sort(models[unit].to_numpy(float))
    gaps = np.diff(scores)
    if not len(gaps) or gaps.max() < BREAK or gaps.max() <= WIDEST * (scores[-1] - scores[0]):
        return None
    return models[unit] <= scores[int(gaps.argmax())]


def describe_basins(table: pd.DataFrame) -> str:
    """How adversaries' scores change as λ grows, in a sentence: do they hold, decline, break at a point, or fall into
    two groups whatever λ is (Yang 2019's "safe point")?

    There is a point if all models with λ below it are in the better group, and all above it in the worse.
    """
    models, unit = outcomes(table), metric_name(table["counts"])
    models = models[models["who"] == "adversary"]
    if len(models) < 4:
        return ""
    broke = broken_adversaries(models, unit)
    if broke is None:
        return f"As λ grows, {unit} goes from {models[unit].max():.1f} to {models[unit].min():.1f} without a break."
    better, worse = models[~broke], models[broke]
    counts = (
        f"The adversaries form two groups, with {better[unit].min():.1f} or more and {worse[unit].max():.1f} or"
        f" less {unit}"
    )
    last_good, first_bad = better["λ"].max(), worse["λ"].min()
    if last_good < first_bad:
        return f"{counts}, separated between λ = {last_good:g} and {first_bad:g}."
    return (
        f"{counts}, and λ does not separate them: the first of the worse has λ = {first_bad:g}, the last of the better"
        f" {last_good:g}. Which one a model falls into depends on its initialisation: there is no safe point, but two"
        " basins."
    )
