"""The figures of `syntax`: divergence by layer and by epoch, heads beside each other, single heads in a sentence."""

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from whence.core.errors import BadData
from whence.experiments._forest import TRUE, Forest, Measuring
from whence.experiments._nearness import ALPHA, SMALLEST
from whence.figures.curves import curves
from whence.figures.heatmap import heatmap
from whence.figures.intervals import intervals
from whence.figures.matrices import matrices
from whence.results.verdict import Effect

if TYPE_CHECKING:
    from whence.experiments._bench import Bench

PANELS, HEADS = 4, 16
DRAWABLE = range(6, 13)  # words of a sentence that is drawn
FAR = 1.0  # nats: how much farther a head may be for the number to be written
DIVERGENCE = "divergence (nats)"


def by_layer(table: pd.DataFrame) -> Figure:
    """Divergence by layer for each kind of tree; of a model of one layer, the differences true − random."""
    means = table[(table["head"] == 0) & table["divergence"].notna()]
    if means.groupby("sees")["layer"].nunique().max() > 1:
        named = means.assign(sees="words see " + means["sees"])
        return curves(named, "layer", "divergence", "tree", "sees", "divergence_low", "divergence_high", None, "layer",
                      DIVERGENCE)  # fmt: skip
    random = means[means["tree"] != TRUE]
    return intervals([
        Effect(f"{row['site']}: true less {row['tree']} trees", row["difference"], row["difference_low"],
               row["difference_high"], "nats", SMALLEST, row["sentences"]) for row in random.to_dict("records")
    ], "divergence from true trees less that from random ones (nats)")  # fmt: skip


def along_epochs(table: pd.DataFrame) -> Figure:
    """Divergence by epoch for each kind of tree, a panel for each site (001 Figs. 2 and 3).

    Where there are many sites, those that are nearest to the true trees in the end.
    """
    means = table[(table["head"] == 0) & table["divergence"].notna()]
    last = means[(means["epoch"] == means["epoch"].iloc[-1]) & (means["tree"] == TRUE)]
    chosen = last.nsmallest(PANELS, "divergence")["site"]
    kept = means[means["site"].isin(chosen)]
    less = f"; {PANELS} of {len(last)} sites" if len(last) > PANELS else ""
    named = kept.assign(panel=kept["site"] + " (words see " + kept["sees"] + ")")
    return curves(named, "epoch", "divergence", "tree", "panel", "divergence_low", "divergence_high", None,
                  f"epochs of training{less}", DIVERGENCE)  # fmt: skip


def by_head(ranked: pd.DataFrame) -> Figure:
    """How much nearer each head is to the true trees than to the random ones that it is nearest to."""
    nearer = ranked.assign(nearer=-ranked["difference"], yes=ranked["p_holm"] < ALPHA)
    heads = nearer.groupby("head")["nearer"].max().nlargest(HEADS).index.sort_values()
    names = names_of(ranked)
    cells, marked = (nearer.pivot(index="site", columns="head", values=value) for value in ("nearer", "yes"))
    order = ranked.sort_values("layer", kind="stable")["site"].unique()
    less = f"; the {HEADS} with most" if ranked["head"].nunique() > HEADS else ""
    cells, marked = (one.loc[order, heads].rename(index=names, columns=str) for one in (cells, marked))
    note = "nats nearer; bold: surely (Holm, 5 %)" + f"; –: farther by over {FAR:g}" * bool(
        (cells < -FAR).any(axis=None)
    )
    return heatmap(cells.where(cells >= -FAR), (), marked.fillna(False).astype(bool), f"head{less}", note)


def names_of(ranked: pd.DataFrame) -> dict[str, str]:
    """The sites by their layers; where several are of one layer, by their names without what all begin and end with."""
    sites = ranked.drop_duplicates("site")
    if not sites["layer"].duplicated().any():
        return {site: f"layer {layer}" for site, layer in zip(sites["site"], sites["layer"], strict=True)}
    names = [str(name) for name in sites["site"]]
    begin = alike(names)
    end = alike([name[begin:][::-1] for name in names])
    return {name: name[begin : len(name) - end] or name for name in names}


def alike(names: list[str]) -> int:
    """With how many letters all names begin alike."""
    return next((place for place, letters in enumerate(zip(*names, strict=False)) if len(set(letters)) > 1), 0)


def in_sentence(table: pd.DataFrame) -> Figure:
    """The attention of the heads of least divergence from true and from random trees in one sentence (001 Fig. 4)."""
    last = table[(table["epoch"] == table["epoch"].iloc[-1]) & table["shown"].notna()]
    if last.empty:
        raise BadData("no sentence was kept to be drawn: none has 6 to 12 words")
    panels = {}
    for tree, of in last.groupby("tree", sort=False):
        row = of.loc[of["divergence"].idxmin()]
        shown = json.loads(row["shown"])
        title = f"nearest to {tree} trees: {row['site']}, head {row['head']}"
        panels[title] = (shown["words"], shown["weights"])
    return matrices(panels)


def to_be_drawn(
    bench: "Bench", forest: Forest, how: Measuring, baseline: str, found: list[dict[str, Any]]
) -> dict[tuple[Any, ...], str]:
    """A sentence's weights in the heads of least divergence, from true trees and from the baseline's (Fig. 4)."""
    fitting = [number for number, one in enumerate(forest.sentences) if len(one.heads) in DRAWABLE and not one.segment]
    if not fitting:
        return {}
    sentence = forest.sentences[fitting[0]]
    weights = bench.sentence_weights(forest, fitting[0], how)
    words = list(bench.examples[sentence.example].words or ())
    pictures = {}
    for site, of_site in weights.items():
        for tree in (TRUE, baseline):
            heads = [row for row in found if (row["site"], row["tree"]) == (site, tree) and row["head"]]
            head = min(heads, key=lambda row: row["divergence"])["head"]
            shown = {"words": words, "weights": np.round(of_site[head - 1].astype(float), 4).tolist()}
            pictures[site, head, tree] = json.dumps(shown)
    return pictures
