"""The figures of `representation_erasure`: parts ranked, and all of them by layer or by label."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from whence.analysis.syntax.figures import common_prefix_length
from whence.figures.heatmap import heatmap
from whence.figures.ranking import ranking
from whence.figures.strips import strips

LISTED, COLUMNS = 16, 20
SEEN = 2  # texts
SMALL = 0.1  # below it, two decimals are too few
UNITS = {"importance": "relative change of the log-likelihood", "lost": "log-likelihood lost (nats)"}


def part_names(table: pd.DataFrame) -> pd.Series:
    """The name of a part in a figure: a word, or its number and place."""
    places = short_places(list(table["place"].unique()))
    what = table["erased"].iloc[0]
    if what == "words":
        return table["word"]
    one = {"dimensions": "dimension", "units": "unit", "heads": "head"}[what]
    numbers = one + " " + table["part"].astype(str)
    return numbers if len(places) == 1 else table["place"].map(places) + ", " + numbers


def short_places(places: list[str]) -> dict[str, str]:
    """Names without their common prefix and suffix; where numbers are left, layers, counted from 0."""
    begin = common_prefix_length(places)
    end = common_prefix_length([place[begin:][::-1] for place in places])
    left = {place: place[begin : len(place) - end] for place in places}
    if len(places) > 1 and all(one.isdecimal() for one in left.values()):
        return {place: f"layer {int(one)}" for place, one in left.items()}
    return {place: one or place for place, one in left.items()}


def top_parts(table: pd.DataFrame, most: int) -> pd.DataFrame:
    """The parts without which most is lost, over all texts, each with its `name`."""
    measure = str(table["measure"].iloc[0])
    whole = table.assign(name=part_names(table))[table["label"] == ""]
    often = whole[whole["texts"] >= SEEN]  # words must be in several texts
    return (often if len(often) else whole).nlargest(most, measure, keep="first")


def bars(table: pd.DataFrame) -> Figure:
    """The parts without which most is lost, with intervals over texts."""
    top, measure = top_parts(table, LISTED), str(table["measure"].iloc[0])
    return ranking(top, "name", measure, f"{measure}_low", f"{measure}_high", UNITS[measure])


def heatmaps(table: pd.DataFrame) -> Figure:
    """Heads by layer; units by layer, or dimensions by label, as strips; words by label."""
    what, measure = str(table["erased"].iloc[0]), str(table["measure"].iloc[0])
    table = table.assign(label=table["label"].replace("", "all"))
    whole = table[table["label"] == "all"]
    places = short_places(list(table["place"].unique()))
    if what == "words":
        top = top_parts(table.assign(label=table["label"].replace("all", "")), LISTED)["word"]
        cells = table.pivot(index="word", columns="label", values=measure).loc[list(top), list(table["label"].unique())]
        return heatmap(cells, ("all",), None, "right answer", UNITS[measure])
    rows, columns = ("label", list(table["label"].unique())) if len(places) == 1 else ("place", list(places))
    cells = (table if rows == "label" else whole).pivot(index=rows, columns="part", values=measure).loc[columns]
    cells = cells.rename(index=places)
    if what == "heads" and len(cells.columns) <= COLUMNS:
        small = bool(np.nanmax(np.abs(cells.to_numpy(float))) < SMALL)
        shown = (1000 * cells if small else cells).rename(columns=str)
        return heatmap(shown, (), None, "head", UNITS[measure] + ", thousandths" * small)
    return strips(cells, {"heads": "head", "units": "hidden unit", "dimensions": "dimension"}[what], UNITS[measure])
