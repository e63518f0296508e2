"""Numbers and verdict from the table of `memory`: recall by delay, forgetting per item, and its relation to speed."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from whence.measures.intervals import NOT_MEASURED, Interval, crossed_share_interval, jackknife_interval
from whence.measures.ranking import kendall_tau
from whence.results.verdict import Effect

NAMES = {
    "rnn": "RNN",
    "lstm": "LSTM",
    "gru": "GRU",
    "lstm_attention": "LSTM + attention",
    "transformer": "Transformer",
    "given": "this model",
}
LAST = ("rnn", "lstm", "gru")  # these predict from their last state alone
SMALLEST = 0.1  # of Kendall's tau


def recall(rows: pd.DataFrame) -> Interval:
    """The accuracy of one model, with an interval over examples and seeds."""
    if rows.empty:
        return NOT_MEASURED
    return crossed_share_interval(rows.pivot(index="seed", columns="example", values="right").to_numpy())


def by_delay(table: pd.DataFrame) -> pd.DataFrame:
    """Recall after each delay: one row per model and delay."""
    found = []
    for (model, delay), rows in table.groupby(["model", "delay"], sort=False):
        of = recall(rows)
        found.append({"model": NAMES[str(model)], "delay": delay, "recall": of.mean, "low": of.low, "high": of.high})
    return pd.DataFrame(found)


def within_training(table: pd.DataFrame) -> pd.DataFrame:
    """The rows with delays that occur in training."""
    return table[table["delay"] <= table["longest"]]


def beyond_training(table: pd.DataFrame) -> pd.DataFrame:
    """The rows with longer delays than any in training."""
    return table[table["delay"] > table["longest"]]


def by_item(table: pd.DataFrame) -> pd.DataFrame:
    """Forgetting of each item by each model: one row per model, seed and item.

    Forgetting is the share of wrong predictions after delays longer than those learned; drift and speed are means over
    all texts with the item.
    """
    keys = ["model", "seed", "item"]
    moves = table.groupby(keys, sort=False)[["drift", "speed"]].mean()
    forgotten = 1 - beyond_training(table).groupby(keys, sort=False)["right"].mean().rename("forgotten")
    return moves.join(forgotten, how="inner").reset_index()


def rank_correlation(items: pd.DataFrame, moved: str, models: Sequence[str]) -> Interval:
    """Kendall's τ-b over the items between speed (or drift) and forgetting, mean over the runs of
    these models, with an interval over items and runs; NaN where no run has an order of both.

    A run is a model trained from a seed; one that forgets all items alike, or none, is left out. The interval is
    that of the jackknife over items, crossed with runs.
    """
    runs = items[items["model"].isin(models)].dropna(subset=[moved, "forgotten"])
    if runs.empty:
        return NOT_MEASURED
    tables = [runs.pivot(index=["model", "seed"], columns="item", values=column) for column in (moved, "forgotten")]
    speeds, forgotten = (table.dropna(axis=1).to_numpy() for table in tables)  # [run item]
    ordered = np.isfinite(taus(speeds, forgotten))
    if not ordered.any():
        return NOT_MEASURED
    speeds, forgotten = speeds[ordered], forgotten[ordered]
    items_left = [np.delete(np.arange(speeds.shape[1]), item) for item in range(speeds.shape[1])]
    left_out = np.stack([taus(speeds[:, some], forgotten[:, some]) for some in items_left], axis=1)  # [run item]
    return jackknife_interval(taus(speeds, forgotten), left_out, symmetric=True)


def taus(first: Float[ndarray, "run item"], second: Float[ndarray, "run item"]) -> Float[ndarray, " run"]:
    """Kendall's τ-b of each run."""
    return np.array([kendall_tau(one, other) for one, other in zip(first, second, strict=True)])


def by_model(table: pd.DataFrame) -> pd.DataFrame:
    """One row per model: its recall after delays that were learned and after longer ones, and both relations."""
    items, found = by_item(table), []
    for model, rows in table.groupby("model", sort=False):
        row: dict[str, Any] = {"model": NAMES[str(model)], "seeds": rows["seed"].nunique()}
        for name, of in {
            "learned": recall(within_training(rows)),
            "beyond": recall(beyond_training(rows)),
            "τ speed": rank_correlation(items, "speed", [str(model)]),
            "τ drift": rank_correlation(items, "drift", [str(model)]),
        }.items():
            row |= {name: of.mean, f"{name} low": of.low, f"{name} high": of.high}
        found.append(row)
    return pd.DataFrame(found)


def effects(table: pd.DataFrame) -> list[Effect]:
    """Forgetting by speed over all models that predict from their last state; then recall beyond training."""
    items = by_item(table)
    there = list(table["model"].unique())
    last = [model for model in there if model in LAST] or there
    n = items["item"].nunique()
    seeds = int(table[table["model"].isin(last)].groupby("model")["seed"].nunique().max())
    found = []
    for moved in ("speed", "drift"):
        label, tau = f"Kendall's τ of {moved} and forgetting over the items", rank_correlation(items, moved, last)
        found.append(Effect.of(f"tau_{moved}", label, tau, "of τ", SMALLEST, n, seeds))
    for model in there:
        rows = beyond_training(table[table["model"] == model])
        of, label = recall(rows), f"recall of {NAMES[model]} after delays longer than learned"
        per_cent = Interval(100 * of.mean, 100 * of.low, 100 * of.high)
        texts, of_seeds = rows["example"].nunique(), rows["seed"].nunique()
        found.append(Effect.of("recall", label, per_cent, "per cent", 0.0, texts, of_seeds, variant=model))
    return found


def decide(relation: Effect, recalls: Sequence[Effect], chance: float) -> tuple[Any, str]:
    """Yes if the whole interval of τ is above the smallest effect of interest, no if it is below."""
    each = ", ".join(f"{NAMES[one.variant]} {one.value:.0f} %" for one in recalls)
    rest = f" Recall after delays longer than learned: {each} (chance {100 * chance:.0f} %)."
    if not any(np.isfinite(one.value) for one in recalls):
        return (
            "undecided",
            "No delay is longer than those learned, so forgetting cannot be measured; choose another split.",
        )
    if not np.isfinite(relation.value):
        return "undecided", f"No model forgot some items more than others, so there is no order to compare.{rest}"
    much = f"Kendall's τ {relation.value:.2f}, {relation.low:.2f} to {relation.high:.2f}"
    if relation.too_few:
        return "undecided", relation.too_few.replace("example", "item") + rest
    if relation.low > relation.smallest:
        return "yes", f"Items whose state moves faster are forgotten more: {much}.{rest}"
    if relation.high < relation.smallest:
        return "no", f"Items whose state moves faster are not forgotten more: {much}.{rest}"
    return "undecided", f"Items whose state moves faster may or may not be forgotten more: {much}.{rest}"
