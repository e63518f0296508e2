"""The numbers, figures and verdict of `probes`, from its table alone."""

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float
from matplotlib.figure import Figure
from numpy import ndarray

from whence.figures.layer_panels import layer_panels
from whence.measures.intervals import Interval, crossed_share_interval, level_for, paired_share_interval
from whence.results.verdict import Effect

TRAINED, RANDOM, BAG, MAJORITY, NONE = "trained", "random", "bag", "majority", "none"
SMALLEST = 2.0  # points of accuracy
KEYS = ["task", "model", "layer", "probe"]
POINTS = "points of accuracy"
ABOVE_FLOOR = "above_floor"
FLOORS = {RANDOM: "random weights", MAJORITY: "the most frequent label"}


def bits(right: Bool[ndarray, " example"]) -> str:
    """Ones and zeros in a row."""
    return "".join("1" if one else "0" for one in right)


def unbits(rows: pd.Series) -> Float[ndarray, "seed example"]:
    """Accuracy of each sentence in per cent, by seed."""
    return np.stack([100.0 * (np.frombuffer(row.encode(), np.uint8) == ord("1")) for row in rows])


def accuracies(table: pd.DataFrame) -> pd.DataFrame:
    """Accuracy, control accuracy and selectivity of every task, model, layer and probe, with intervals."""
    found = []
    for task, rows in table.groupby("task", sort=False):
        sides: dict[Any, Interval] = {}
        for (_, model, layer, probe), one in rows.groupby(KEYS, sort=False):
            right = unbits(one["right"])
            sides[model, layer, probe, "right"] = crossed_share_interval(right / 100).scaled(100)
            if (one["control"] != "").all():
                control = unbits(one["control"])
                sides[model, layer, probe, "control"] = crossed_share_interval(control / 100).scaled(100)
                sides[model, layer, probe, "selectivity"] = paired_share_interval((right - control) / 100).scaled(100)
        found += [
            {
                "task": task,
                "model": model,
                "layer": layer,
                "probe": probe,
                "measure": measure,
                "value": got.mean,
                "low": got.low,
                "high": got.high,
            }
            for (model, layer, probe, measure), got in sides.items()
        ]
    return pd.DataFrame(found)


def by_task(table: pd.DataFrame) -> pd.DataFrame:
    """One row per task: accuracy of the first kind of probe after each layer, and of the baselines."""
    numbers, probe = accuracies(table), first_probe(table)
    found = []
    for task, rows in numbers.groupby("task", sort=False):
        of = {
            (m, layer, p, what): value
            for m, layer, p, what, value in rows[["model", "layer", "probe", "measure", "value"]].itertuples(
                index=False
            )
        }
        layers = sorted({layer for m, layer, *_ in of if m == TRAINED})
        here = table[table["task"] == task]
        row = {
            "task": task,
            "classes": here["classes"].iloc[0],
            "train": here["train"].iloc[0],
            "test": len(here["right"].iloc[0]),
            MAJORITY: of[MAJORITY, -1, NONE, "right"],
        }
        row["best random"] = max((of[key] for key in of if key[0] == RANDOM and key[2] == probe), default=np.nan)
        row[BAG] = of[BAG, -1, probe, "right"]
        row |= {f"layer {layer}": of[TRAINED, layer, probe, "right"] for layer in layers}
        others = [of[key] for key in of if key[0] == TRAINED and key[2] != probe and key[3] == "right"]
        row["best other probe"] = max(others, default=np.nan)
        best = max(layers, key=lambda layer: of[TRAINED, layer, probe, "right"])
        row["selectivity of best"] = of.get((TRAINED, best, probe, "selectivity"), np.nan)
        found.append(row)
    return pd.DataFrame(found)


def first_probe(table: pd.DataFrame) -> str:
    """The kind of probe that decides."""
    return str(table.loc[table["probe"] != NONE, "probe"].iloc[0])


def named_quantities(table: pd.DataFrame) -> dict[str, Interval]:
    """Every number by its name."""
    found = {}
    for row in accuracies(table).to_dict("records"):
        layer = f"layer {row['layer']}"
        where = {TRAINED: layer, RANDOM: f"{layer}, random weights"}.get(row["model"], row["model"])
        more = [word for word in (row["probe"], row["measure"]) if word not in (NONE, "right")]
        found[", ".join([row["task"], where, *more])] = Interval(row["value"], row["low"], row["high"])
    return found


def above_floor(table: pd.DataFrame) -> list[Effect]:
    """How much more the first kind of probe finds in the trained model than in random weights, mean over the layers
    after the first; of all tasks together, and of each.

    Without random weights the most frequent label is the floor. The intervals hold for all tasks together (Bonferroni);
    that of their mean is the mean of theirs, as if they all moved together, which is the widest it can be.
    """
    probe, n_task = first_probe(table), table["task"].nunique()
    floor = RANDOM if (table["model"] == RANDOM).any() else MAJORITY
    below = FLOORS[floor]
    found = []
    for task, rows in table.groupby("task", sort=False):
        of_probe = rows[rows["probe"].isin([probe, NONE])]
        above = (of_probe["layer"] > 0) | (of_probe["model"] == MAJORITY)
        mean = {model: _mean(of_probe[above & (of_probe["model"] == model)]) for model in (TRAINED, floor)}
        got = paired_share_interval((mean[TRAINED] - mean[floor]) / 100, level_for(n_task)).scaled(100)
        seeds, n = mean[TRAINED].shape
        label = f"{task}: layers above {below}"
        found.append(Effect.of(ABOVE_FLOOR, label, got, POINTS, SMALLEST, n, seeds, place=str(task), variant=floor))
    ends = ([one.value for one in found], [one.low for one in found], [one.high for one in found])
    mean_of_all = Interval(*(float(np.mean(end)) for end in ends))
    n, label = sum(one.n for one in found), f"all tasks: layers above {below}"
    whole = Effect.of(ABOVE_FLOOR, label, mean_of_all, POINTS, SMALLEST, n, found[0].seeds, variant=floor)
    return [whole, *found]


def _mean(rows: pd.DataFrame) -> Float[ndarray, "seed example"]:
    """Accuracy of each sentence and seed in per cent, mean over the layers."""
    return np.stack([unbits(one["right"]) for _, one in rows.groupby("layer")]).mean(0)


def bag_is_layer_0(table: pd.DataFrame) -> bool:
    """Whether probes on the bag of word vectors predicted everywhere as on the first layer's input."""
    of_bag, first = (
        table[(table["model"] == model) & (table["layer"] == layer)].sort_values(["task", "probe", "seed"])
        for model, layer in ((BAG, -1), (TRAINED, 0))
    )
    return list(of_bag["right"]) == list(first["right"])


def decide(found: list[Effect]) -> tuple[Any, str]:
    """Yes if the whole interval of the mean over all tasks is above the smallest effect of interest, no if below."""
    whole, *each = found
    if whole.too_few:
        return "undecided", whole.too_few
    more = [one.place for one in each if one.low > one.smallest]
    best = max(each, key=lambda one: one.value)
    listed = f" ({', '.join(more)})" if more else ""
    evidence = (
        f"{whole.value:.1f} points of accuracy above {FLOORS[whole.variant]} ({whole.low:.1f} to {whole.high:.1f}),"
        f" mean over layers and tasks; surely so in {len(more)} of {len(each)} tasks{listed}. Most in {best.place}:"
        f" {best.value:.1f} points."
    )
    if whole.low > whole.smallest:
        return "yes", f"Training has put properties of sentences into the layers: {evidence}"
    if whole.high < whole.smallest:
        return "no", f"The layers hold hardly more about sentences than random weights do: {evidence}"
    return "undecided", f"The layers may hold more about sentences than random weights do: {evidence}"


def by_layer(table: pd.DataFrame) -> Figure:
    """Accuracy by layer, a panel for each task: trained, random weights; majority dotted, bag dashed."""
    numbers, first = accuracies(table), first_probe(table)
    right = numbers[numbers["measure"] == "right"]
    lines = right[(right["model"] == TRAINED) | ((right["model"] == RANDOM) & (right["probe"] == first))]
    labelled = lines.assign(
        line=[
            probe if model == TRAINED else f"{probe}, random weights"
            for model, probe in zip(lines["model"], lines["probe"], strict=True)
        ]
    )
    flat = right[right["probe"].isin([first, NONE]) & right["model"].isin([BAG, MAJORITY])]
    level = {model: dict(zip(rows["task"], rows["value"], strict=True)) for model, rows in flat.groupby("model")}
    return layer_panels(
        labelled,
        "task",
        "line",
        level.get(MAJORITY, {}),
        level.get(BAG, {}),
        "accuracy (%)",
        ("most frequent label", f"{first}, mean of word vectors"),
    )


def selectivity(table: pd.DataFrame) -> Figure:
    """Accuracy less control accuracy by layer, a panel for each task."""
    numbers = accuracies(table)
    chosen = numbers[(numbers["measure"] == "selectivity") & (numbers["model"] == TRAINED)]
    zero = dict.fromkeys(chosen["task"].unique(), 0.0)
    return layer_panels(chosen.assign(line=chosen["probe"]), "task", "line", zero, {}, "selectivity (points)")
