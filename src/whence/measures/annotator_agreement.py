"""How far annotators agree beyond chance: Cohen's kappa of two, Krippendorff's alpha of any number, with intervals.

The values are those of scikit-learn and of `krippendorff`. Both are measures of sums over items (of a table of answers,
or of coincidences), so leaving out one item is one subtraction, and the interval is the jackknife's over items.
"""

from collections.abc import Callable

import krippendorff
import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from whence.measures.intervals.corpora import jackknife_interval
from whence.measures.intervals.interval import NOT_MEASURED, Interval

Answers = Float[ndarray, "annotator unit"]  # codes of answers, NaN where there is none
Sums = Float[ndarray, "item code code"]


def cohen_kappa(answers: Answers, items: Int[ndarray, " unit"] | None = None) -> Interval:
    """Cohen's (1960) kappa of two annotators on the units that both answered: (agreement − chance) / (1 − chance).

    `items` says which item each unit belongs to (words of a text); the interval is over items. Not measured where both
    always gave one and the same answer.
    """
    from sklearn.metrics import cohen_kappa_score  # slow to import

    if len(answers) != 2:
        raise ValueError(f"Cohen's kappa is of two annotators, came {len(answers)}")
    both = np.isfinite(answers).all(0)
    first, second = answers[:, both]
    if len(np.unique(answers[:, both])) < 2:
        return NOT_MEASURED
    codes, n = np.unique(np.stack([first, second]), return_inverse=True)[1].reshape(2, -1), both.sum()
    sums = np.zeros((n, codes.max() + 1, codes.max() + 1))
    sums[np.arange(n), codes[0], codes[1]] = 1
    return _with_interval(float(cohen_kappa_score(first, second)), _over_items(sums, items, both), kappa_of)


def kappa_of(table: Float[ndarray, "*some code code"]) -> Float[ndarray, "*some"]:
    """Kappa from tables that count answers of the first and of the second annotator; NaN where chance is all."""
    total = table.sum((-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        agreed = np.trace(table, axis1=-2, axis2=-1) / total
        chance = (table.sum(-1) * table.sum(-2)).sum(-1) / total**2
        return np.asarray((agreed - chance) / (1 - chance))


def krippendorff_alpha(answers: Answers, items: Int[ndarray, " unit"] | None = None) -> Interval:
    """Krippendorff's (2011) alpha for nominal answers of any number of annotators, some of which may be missing.

    1 − observed / expected disagreement. Units with fewer than two answers do not count. Not measured where all
    answers are one and the same.
    """
    paired = np.isfinite(answers).sum(0) > 1
    if len(np.unique(answers[:, paired][np.isfinite(answers[:, paired])])) < 2:
        return NOT_MEASURED
    value = float(krippendorff.alpha(reliability_data=answers, level_of_measurement="nominal"))
    return _with_interval(value, _over_items(coincidences(answers[:, paired]), items, paired), alpha_of)


def coincidences(answers: Answers) -> Sums:
    """For each unit how often each pair of answers was given to it, all pairs of annotators, over (annotators − 1)."""
    codes = np.unique(answers[np.isfinite(answers)])
    given = (answers[..., None] == codes).sum(0).astype(float)  # [unit code]
    each = given.sum(-1)
    pairs = given[:, :, None] * given[:, None, :] - given[:, :, None] * np.eye(len(codes))
    return np.asarray(pairs / (each - 1)[:, None, None])


def alpha_of(sums: Float[ndarray, "*some code code"]) -> Float[ndarray, "*some"]:
    """Alpha from coincidences: 1 − (n − 1) Σ o_ck / Σ n_c n_k over c ≠ k; NaN where all answers are the same."""
    apart = 1 - np.eye(sums.shape[-1])
    each = sums.sum(-1)
    n, expected = each.sum(-1), (each[..., :, None] * each[..., None, :] * apart).sum((-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(1 - (n - 1) * (sums * apart).sum((-2, -1)) / expected)


def _over_items(sums: Float[ndarray, "kept code code"], items: Int[ndarray, " unit"] | None, kept: ndarray) -> Sums:
    """Sums of units added up to those of their items."""
    if items is None:
        return sums
    at = np.unique(items[kept], return_inverse=True)[1]
    whole = np.zeros((at.max() + 1, *sums.shape[1:]))
    np.add.at(whole, at, sums)
    return whole


def _with_interval(value: float, sums: Sums, measure: Callable[[Sums], ndarray]) -> Interval:
    """The value with the jackknife's interval over items, cut at 1; without one where an item decides everything."""
    found = jackknife_interval(np.array([value]), measure(sums.sum(0) - sums)[None])
    if found.low == found.high:  # agreement without exception
        return Interval(value, np.nan, np.nan)
    return Interval(value, max(found.low, -1.0), min(found.high, 1.0))
