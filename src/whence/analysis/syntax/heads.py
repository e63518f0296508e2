"""From one number for each sentence, head and tree to a table: means, differences, and their intervals."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from numpy import ndarray

from whence.data.syntax.forest import TRUE, Forest
from whence.measures.holm import holm
from whence.measures.intervals import Ratios, ratio_intervals
from whence.measures.tree_divergence import OFFSETS

if TYPE_CHECKING:
    from whence.evaluation.tree_attention import TreeDivergences

ALPHA = 0.05
SMALLEST = 0.1  # nats: the parent gets a tenth more than the word in its place
SEES = {frozenset({"past", "future"}): "all", frozenset({"past"}): "past", frozenset({"future"}): "future"}


class Pooled:
    """Sums over sentences, with intervals over the examples that they belong to.

    The sentences of a pair are one unit: two that are alike tell no more than one.
    """

    def __init__(self, examples: Int[ndarray, " sentence"]) -> None:
        self.begins = np.flatnonzero(np.diff(examples, prepend=-1))  # sentences come in the order of their examples

    def ratio(self, sums: Float[ndarray, "sentence cell"], counts: Float[ndarray, " sentence"]) -> Ratios:
        """Σ sums / Σ counts over all sentences."""
        tops = np.add.reduceat(sums.astype(float), self.begins)  # [example cell]
        below = np.add.reduceat(counts.astype(float), self.begins)[:, None]
        return ratio_intervals(tops, np.broadcast_to(below, tops.shape), 1 - ALPHA)

    def mean(self, values: Float[ndarray, "sentence cell"]) -> Ratios:
        """The mean over the sentences that have a value (all cells have one, or none)."""
        there = np.isfinite(values[:, 0])
        return self.ratio(np.where(there[:, None], values, 0.0), there.astype(float))


def rows(found: Mapping[str, "TreeDivergences"], forest: Forest) -> Iterator[dict[str, Any]]:
    """The rows of a table: of each site the mean of its heads (head -1) and every head, by kind of tree."""
    pooled = Pooled(forest.examples)
    for one in found.values():
        about = {"site": one.site.name, "layer": one.site.layer, "sees": SEES.get(frozenset(one.sees), "itself")}
        true, found_by = with_mean(one.divergence[TRUE]), attachment(one, pooled)
        for kind in forest.kinds:
            values = with_mean(one.divergence[kind])  # [sentence head+1]
            there, nearer = pooled.mean(values), pooled.mean(true - values)
            of_kind = {
                "tree": kind,
                "before": forest.before[kind],
                "sentences": int(np.isfinite(values[:, 0]).sum()),
                "coverage": masked_mean(one.coverage[kind]),
            }
            for head in range(values.shape[1]):
                yield {
                    **about,
                    "head": head - 1,
                    **of_kind,
                    **numbers("divergence", there, head),
                    **(numbers("difference", nearer, head) if kind != TRUE else NOT_MEASURED),
                    **found_by(head if kind == TRUE else 0),
                }


def with_mean(values: Float[ndarray, "sentence head"]) -> Float[ndarray, "sentence cell"]:
    """The mean over the heads before the heads."""
    return np.concatenate([values.mean(1, keepdims=True, dtype=float), values], axis=1)


def masked_mean(values: Float[ndarray, " sentence"]) -> float:
    """The mean of what was measured."""
    there = np.isfinite(values)
    return float(values[there].mean()) if there.any() else float("nan")


def numbers(name: str, found: Ratios, cell: int) -> dict[str, float]:
    """The numbers of one cell, under their names in the table."""
    mean, low, high, error = (float(part[cell]) for part in found)
    return {name: mean, f"{name}_low": low, f"{name}_high": high, f"{name}_error": error}


NOT_MEASURED = dict.fromkeys(("difference", "difference_low", "difference_high", "difference_error"), float("nan"))


def attachment(one: "TreeDivergences", pooled: Pooled) -> Any:
    """How often a head's largest weight finds the parent, less how often the best fixed offset does, by head."""
    shares = pooled.ratio(one.hits, one.arcs)
    by_offset = pooled.ratio(one.offset_hits, one.arcs)
    best = int(by_offset.mean.argmax())
    beyond = pooled.ratio(one.hits - one.offset_hits[:, best : best + 1], one.arcs)
    fixed = {"offset": OFFSETS[best], "offset_attachment": float(by_offset.mean[best])}

    def of(head: int) -> dict[str, float]:
        own = (
            numbers("attachment", shares, head - 1) if head else dict.fromkeys(numbers("attachment", shares, 0), np.nan)
        )
        return {**own, "beyond_error": float(beyond.error[head - 1]) if head else np.nan, **fixed}

    return of


def ranking(table: pd.DataFrame) -> pd.DataFrame:
    """The heads of the last epoch, those that are surest to be nearer to true trees first.

    For each head the baseline that it is least surely nearer to the true trees than to; its difference, with intervals
    that hold for all heads together (Bonferroni); p that it is not nearer by more than the smallest effect of interest,
    of all baselines the largest, corrected for all heads (Holm). Likewise p that its largest weight finds the parent no
    more often than the fixed offset does.
    """
    from scipy.stats import norm  # slow to import

    heads = table[(table["epoch"] == table["epoch"].iloc[-1]) & (table["head"] >= 0)]
    random = heads[(heads["tree"] != TRUE) & heads["difference"].notna()]
    tested = random.assign(z=in_standard_errors(random["difference"] + SMALLEST, random["difference_error"]))
    worst = tested.loc[tested.groupby(["site", "head"], sort=False)["z"].idxmax()]
    places = list(zip(worst["site"], worst["head"], strict=True))
    true = heads[heads["tree"] == TRUE].set_index(["site", "head"]).loc[places]
    wide = float(norm.isf(ALPHA / 2 / len(worst)))
    beyond = in_standard_errors(true["attachment"] - true["offset_attachment"], true["beyond_error"])
    found = pd.DataFrame(
        {
            "site": worst["site"],
            "layer": worst["layer"],
            "sees": worst["sees"],
            "head": worst["head"],
            "true": true["divergence"].to_numpy(),
            "nearest": worst["tree"],
            "difference": worst["difference"],
            "low": worst["difference"] - wide * worst["difference_error"],
            "high": worst["difference"] + wide * worst["difference_error"],
            "p_holm": holm(norm.cdf(worst["z"])),
            "attachment": true["attachment"].to_numpy(),
            "by offset": true["offset_attachment"].to_numpy(),
            "attachment_p_holm": holm(norm.sf(beyond)),
            "z": worst["z"],
        }
    )
    return found.sort_values("z", kind="stable", ignore_index=True).drop(columns="z")


def in_standard_errors(difference: pd.Series, error: pd.Series) -> ndarray:
    """A difference in standard errors; infinite where nothing varies."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(difference.to_numpy(float) / error.to_numpy(float), nan=0.0, posinf=1e9, neginf=-1e9)
