"""The figures of `syntax`: divergence by layer and by epoch, heads compared, single heads in a sentence."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from whence.analysis.syntax.heads import ALPHA
from whence.analysis.syntax.verdict import difference
from whence.data.syntax.forest import TRUE, Forest
from whence.figures.attention_matrices import attention_matrices
from whence.figures.curves import curves
from whence.figures.heatmap import heatmap
from whence.figures.intervals import intervals

PANELS, HEADS, SITES = 4, 16, 2
DRAWABLE = range(6, 13)  # words of a sentence that is drawn
FAR = 1.0  # nats: how much farther a head may be for its number to be shown
DIVERGENCE = "divergence (nats)"


def by_layer(table: pd.DataFrame) -> Figure:
    """Divergence by layer for each kind of tree; of a model of one layer, the differences true − random."""
    means = table[(table["head"] == -1) & table["divergence"].notna()]
    if means.groupby("sees")["layer"].nunique().max() > 1:
        named = means.assign(sees="words see " + means["sees"])
        return curves(
            named, "layer", "divergence", "tree", "sees", "divergence_low", "divergence_high", None, "layer", DIVERGENCE
        )
    random = means[means["tree"] != TRUE].to_dict("records")
    shown = [difference(row, f"{row['site']}: true less {row['tree']} trees", row["sentences"]) for row in random]
    return intervals(shown, "divergence from true trees less that from random ones (nats)")


def by_epoch(table: pd.DataFrame) -> Figure:
    """Divergence by epoch for each kind of tree, a panel for each site (Varano 2019 Figs. 2 and 3).

    Where there are many sites, those that are nearest to the true trees in the end.
    """
    means = table[(table["head"] == -1) & table["divergence"].notna()]
    last = means[(means["epoch"] == means["epoch"].iloc[-1]) & (means["tree"] == TRUE)]
    chosen = last.nsmallest(PANELS, "divergence")["site"]
    kept = means[means["site"].isin(chosen)]
    less = f"; {PANELS} of {len(last)} sites" if len(last) > PANELS else ""
    named = kept.assign(panel=kept["site"] + " (words see " + kept["sees"] + ")")
    return curves(
        named,
        "epoch",
        "divergence",
        "tree",
        "panel",
        "divergence_low",
        "divergence_high",
        None,
        f"epochs of training{less}",
        DIVERGENCE,
    )


def by_head(ranked: pd.DataFrame) -> Figure:
    """How much nearer each head is to the true trees than to the random ones that it is nearest to."""
    nearer = ranked.assign(nearer=-ranked["difference"], yes=ranked["p_holm"] < ALPHA)
    heads = nearer.groupby("head")["nearer"].max().nlargest(HEADS).index.sort_values()
    names = short_site_names(ranked)
    cells, marked = (nearer.pivot(index="site", columns="head", values=value) for value in ("nearer", "yes"))
    order = ranked.sort_values("layer", kind="stable")["site"].unique()
    less = f"; the {HEADS} with most" if ranked["head"].nunique() > HEADS else ""
    cells, marked = (one.loc[order, heads].rename(index=names, columns=str) for one in (cells, marked))
    note = "nats nearer; bold: surely (Holm, 5 %)" + f"; –: farther by over {FAR:g}" * bool(
        (cells < -FAR).any(axis=None)
    )
    return heatmap(cells.where(cells >= -FAR), (), marked.fillna(False).astype(bool), f"head{less}", note)


def short_site_names(ranked: pd.DataFrame) -> dict[str, str]:
    """The sites by their layers; where several are of one layer, by their names without common prefix and suffix."""
    sites = ranked.drop_duplicates("site")
    if not sites["layer"].duplicated().any():
        return {site: f"layer {layer}" for site, layer in zip(sites["site"], sites["layer"], strict=True)}
    names = [str(name) for name in sites["site"]]
    begin = common_prefix_length(names)
    end = common_prefix_length([name[begin:][::-1] for name in names])
    return {name: name[begin : len(name) - end] or name for name in names}


def common_prefix_length(names: list[str]) -> int:
    """The length of the names' common prefix."""
    return next((place for place, letters in enumerate(zip(*names, strict=False)) if len(set(letters)) > 1), 0)


def pooled_means(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The means over all heads of several models: their mean, and an interval that contains those of all models."""
    whole = pd.concat([table[table["head"] == -1] for table in tables])
    how = {
        f"{name}{end}": what
        for name in ("divergence", "difference")
        for end, what in (("", "mean"), ("_low", "min"), ("_high", "max"))
    }
    known = ["epoch", "site", "layer", "sees", "head", "tree"]
    return whole.groupby(known, sort=False, as_index=False).agg({**how, "sentences": "max"})


def without_texts(table: pd.DataFrame) -> pd.DataFrame:
    """The same table with the words of the sentence that is shown numbered: for pages on corpora that may not be
    redistributed.
    """

    def numbered(shown: Any) -> Any:
        kept = None if pd.isna(shown) else json.loads(shown)
        return kept and json.dumps({**kept, "words": [f"word {i + 1}" for i in range(len(kept["words"]))]})

    return table.assign(shown=[numbered(shown) for shown in table["shown"]])


def sentence_figures(table: pd.DataFrame) -> dict[str, Figure]:
    """Attention in one sentence; nothing, if none was kept because none has 6 to 12 words."""
    last = table[(table["epoch"] == table["epoch"].iloc[-1]) & table["shown"].notna()]
    heads, means = last[last["head"] >= 0], last[last["head"] == -1]
    found = {} if means.empty else {"tree": tree_and_attention(means)}
    return found if heads.empty else {**found, "sentence": nearest_heads(heads)}


def tree_and_attention(rows: pd.DataFrame) -> Figure:
    """The tree, and the mean attention of all heads at the sites that are nearest to it (Varano 2019 Fig. 1)."""
    nearest = [
        (row["site"], json.loads(row["shown"])) for row in rows.nsmallest(SITES, "divergence").to_dict("records")
    ]
    first, reference = nearest[0][1], rows["reference"].iloc[0]
    panels = {f"the tree's targets ({reference})": (first["words"], first["tree"])}
    for site, shown in nearest:
        panels[f"attention at {site}, mean of its heads"] = (shown["words"], shown["weights"])
    return attention_matrices(panels)


def nearest_heads(rows: pd.DataFrame) -> Figure:
    """The attention of the heads of least divergence from true and from random trees (Varano 2019 Fig. 4)."""
    panels = {}
    for tree, of in rows.groupby("tree", sort=False):
        row = of.iloc[int(of["divergence"].to_numpy().argmin())]
        shown = json.loads(row["shown"])
        title = f"nearest to {tree} trees: {row['site']}, head {row['head']}"
        panels[title] = (shown["words"], shown["weights"])
    return attention_matrices(panels)


def drawable_sentence(forest: Forest) -> int | None:
    """The number of the first sentence that is short enough to draw, if there is one."""
    return next(
        (number for number, one in enumerate(forest.sentences) if len(one.heads) in DRAWABLE and not one.segment), None
    )


def shown_weights(
    weights: Mapping[str, np.ndarray],
    words: list[str],
    tree: np.ndarray,
    baseline: str,
    found: list[dict[str, Any]],
) -> dict[tuple[Any, ...], str]:
    """A sentence's weights in the heads of least divergence, from true trees and from the baseline's (Fig. 4), and the
    mean of all heads with the tree (Fig. 1): by site, head and kind of tree.
    """
    pictures: dict[tuple[Any, ...], str] = {}
    for site, of_site in weights.items():
        pictures[site, -1, TRUE] = sentence_json(words, of_site.mean(0), tree=tree.round(4).tolist())
        for kind in (TRUE, baseline):
            heads = [row for row in found if (row["site"], row["tree"]) == (site, kind) and row["head"] >= 0]
            head = min(heads, key=lambda row: row["divergence"])["head"]
            pictures[site, head, kind] = sentence_json(words, of_site[head])
    return pictures


def sentence_json(words: list[str], weights: np.ndarray, **more: Any) -> str:
    """Words and the weights between them as JSON."""
    return json.dumps({"words": words, "weights": np.round(weights.astype(float), 4).tolist(), **more})
