"""Regressions of word scores on human ratings, with a jackknife over sentences."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray
from scipy.sparse import csr_array

from whence.measures.intervals import Interval, jackknife_interval
from whence.measures.least_squares import Coefficient
from whence.measures.regression import curvature, quadratic, two_lines

KEYS = ["state", "method"]
FEWEST = 30  # words: too few for a curve
GROUPS = 1000  # most groups of sentences that are left out in turn
HIGH = 0.4  # a mean score above which the paper left words out of its figure
NONE = Coefficient(*[np.nan] * 6)


def words_of(table: pd.DataFrame) -> pd.DataFrame:
    """One row per word, explainer and state of the model: mean score, count, length, valence, how it was matched."""
    sums = table.groupby([*KEYS, "word"], sort=False, as_index=False).agg(
        total=("score", "sum"),
        count=("n", "sum"),
        texts=("n", "size"),
        valence=("valence", "first"),
        matched=("matched", "first"),
    )
    sums["score"] = sums["total"] / sums["count"]
    sums["length"] = sums["word"].str.len().astype(int)
    return sums[[*KEYS, "word", "count", "texts", "length", "valence", "matched", "score"]]


def rated_words(table: pd.DataFrame) -> dict[tuple[str, str], pd.DataFrame]:
    """The words that have a valence, for each state and explainer."""
    words = words_of(table)
    return {
        (str(state), str(method)): rows[rows["valence"].notna()].reset_index(drop=True)
        for (state, method), rows in words.groupby(KEYS, sort=False)
    }


def controls_of(words: pd.DataFrame) -> Float[ndarray, "word 2"]:
    """What else may make a word's score high: how often it is seen (its logarithm), and how long it is."""
    return np.column_stack([np.log(words["count"]), words["length"]])


def enough_words(words: pd.DataFrame) -> bool:
    """Whether there are enough words with different values to fit a curve."""
    return len(words) >= FEWEST and words["valence"].nunique() > 2 and float(np.ptp(words["score"])) > 0


def fits(words: pd.DataFrame, controlled: bool) -> dict[str, Any]:
    """The regression of scores on valence and the two-lines test, as one row of numbers."""
    if not enough_words(words):
        b1 = b2 = left = right = NONE
        r_squared = at = np.nan
        shape = "too few words"
    else:
        y, x = words["score"].to_numpy(float), words["valence"].to_numpy(float)
        controls = controls_of(words) if controlled else None
        fit, lines = quadratic(y, x, controls), two_lines(y, x, controls)
        b1, b2, r_squared = fit.b1, fit.b2, fit.r_squared
        at, left, right = (lines.at, lines.left, lines.right) if lines else (np.nan, NONE, NONE)
        shape = lines.shape if lines else "neither"
    return {
        "n": len(words),
        "b1": b1.value,
        "b1_se": b1.se,
        "b1_t": b1.t,
        "b1_p": b1.p,
        "b1_low": b1.low,
        "b1_high": b1.high,
        "b2": b2.value,
        "b2_se": b2.se,
        "b2_t": b2.t,
        "b2_p": b2.p,
        "b2_low": b2.low,
        "b2_high": b2.high,
        "r_squared": r_squared,
        "shape": shape,
        "break": at,
        "left": left.value,
        "left_p": left.p,
        "right": right.value,
        "right_p": right.p,
    }


def regressions(table: pd.DataFrame) -> pd.DataFrame:
    """One row per state, explainer, and with or without controls; intervals of b2 also over sentences."""
    left_out, rows = curvatures(table), []
    for key, words in rated_words(table).items():
        (state, method), scale = key, float(np.sqrt(len(words)) * words["score"].std(ddof=0))
        over = curvature_interval(word_curvature(words), left_out.get(key)).scaled(scale)
        for controlled in (False, True):
            own = {"b2_low_sentences": over.low, "b2_high_sentences": over.high} if not controlled else {}
            rows.append({"state": state, "method": method, "controls": controlled, **fits(words, controlled), **own})
    return pd.DataFrame(rows)


def numbers(table: pd.DataFrame, fitted: pd.DataFrame) -> dict[str, Interval]:
    """Coefficients and shares by name, for a ledger: of the trained model, no controls (Wu et al. 2020 §6.4, footnotes
    5, 6).
    """
    found: dict[str, Interval] = {}
    words = words_of(table).query("state == 'trained'")
    for row in fitted.query("state == 'trained' and not controls").to_dict("records"):
        method = row["method"]
        found[f"b2 of {method}"] = Interval(row["b2"], row["b2_low_sentences"], row["b2_high_sentences"])
        for name in ("b1", "b1_t", "b1_p", "b2_t", "b2_p", "r_squared"):
            found[_quantity_name(name, method)] = Interval(row[name], np.nan, np.nan)
        high = 100 * float((words.loc[words["method"] == method, "score"] > HIGH).mean())
        found[f"% of words above {HIGH} by {method}"] = Interval(high, np.nan, np.nan)
    scores = words.pivot(index="word", columns="method", values="score")
    for one, other in combinations(words["method"].unique(), 2):
        found[f"correlation of {one} and {other}"] = Interval(float(scores[one].corr(scores[other])), np.nan, np.nan)
    return found


def _quantity_name(name: str, method: str) -> str:
    """'p of b2 of lat'."""
    of, _, what = name.partition("_")
    return f"{what} of {of} of {method}" if what in ("t", "p") else f"{name.replace('r_squared', 'R²')} of {method}"


def curvatures(table: pd.DataFrame) -> dict[tuple[str, str], Float[ndarray, " group"]]:
    """How much of a U there is without each sentence, the same ones for all states and explainers.

    A word's score is its mean over the occurrences that are left, and words without any are left out. Divided by the
    standard deviation of the original scores, so that noise does not make the U smaller. Of very many sentences, groups
    are left out (delete-a-group jackknife).
    """
    examples = sorted(table["example"].unique().tolist())
    groups = {number: place % GROUPS for place, number in enumerate(examples)}
    there = {key: words for key, words in rated_words(table).items() if enough_words(words)}
    found = {}
    for key, words in there.items():
        sums, counts = _matrices(table, key, words, groups)
        valence, kept = words["valence"].to_numpy(float), []
        for group in range(sums.shape[0]):
            total, seen = (whole.sum(0) - whole[[group]].toarray() for whole in (sums, counts))  # [1 word]
            scores = np.divide(total, seen, out=np.zeros_like(total), where=seen > 0)
            kept.append(curvature(scores, valence, seen > 0))
        found[key] = np.concatenate(kept) / words["score"].std(ddof=0)
    return found


def curvature_interval(value: float, left_out: Float[ndarray, " group"] | None, level: float = 0.95) -> Interval:
    """How much of a U there is, or the difference of two, with an interval over sentences, NaN if unknown."""
    if left_out is None:
        return Interval(value, np.nan, np.nan, level)
    return jackknife_interval(np.array([value]), left_out[None], level)


def _matrices(
    table: pd.DataFrame, key: tuple[str, str], words: pd.DataFrame, groups: dict[int, int]
) -> tuple[csr_array, csr_array]:
    """Sums of scores and numbers of occurrences [group word]."""
    rows = table[(table["state"] == key[0]) & (table["method"] == key[1]) & table["valence"].notna()]
    places = {word: place for place, word in enumerate(words["word"])}
    at = rows["example"].map(groups).to_numpy(int), rows["word"].map(places).to_numpy(int)
    shape = len(set(groups.values())), len(words)
    sums, counts = (csr_array((rows[name].to_numpy(float), at), shape=shape) for name in ("score", "n"))
    return sums, counts


def word_curvature(words: pd.DataFrame) -> float:
    """The correlation of the scores with the second polynomial of valence: 1 is all U, 0 none, below 0 an arch."""
    if not enough_words(words):
        return np.nan
    y, x = words["score"].to_numpy(float), words["valence"].to_numpy(float)
    return float(curvature(y[None], x, np.ones((1, len(x)), bool))[0] / y.std())
