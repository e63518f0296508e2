"""Orders in which units are removed: areas over their curves, when the decision changes, and the best and worst order.

The area of an order is the mean, over how many units are removed, of the drop of the decision's margin
(comprehensiveness, DeYoung et al. 2020 §4.2, as an area: Samek et al. 2017). To keep only the first units is to remove
the last ones first, so sufficiency is the area of the reversed order.
"""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from whence.evaluation.faithfulness.outcomes import Outcomes

EXACT = 8  # units: of so many all subsets are tried
WIDTH, CANDIDATES = 2, 4  # of the beam; blocks that each of its sets is continued with
DIGITS = 2  # of the largest score: an explainer does not tell apart what differs by less than a hundredth of it
Order = Sequence[int]


def descending(scores: Float[ndarray, " unit"], drawn: Float[ndarray, " unit"] | None = None) -> list[int]:
    """The units by falling score; those that differ by less than a hundredth of the largest score by falling random
    number, else the first.

    Where 98 % of the weight is on one word, the order of the others, at 0.2 % each, says nothing.
    """
    size = float(np.abs(scores).max(initial=0.0))
    rounded = np.round(scores / size, DIGITS) if size > 0 else scores
    return np.lexsort((np.zeros(len(scores)) if drawn is None else -drawn, -rounded)).tolist()


def depths(count: int, steps: int) -> list[int]:
    """How many of a text's units are removed: every number from one to all but one, or so many spread evenly."""
    if count - 1 <= steps:
        return list(range(1, count))
    return sorted(set(np.linspace(1, count - 1, steps).round().astype(int).tolist()))


def prefixes(order: Order, at: Sequence[int]) -> list[int]:
    """The sets of the first units of an order, one for each depth."""
    sets = list(accumulate(order, lambda mask, unit: mask | (1 << unit), initial=0))
    return [sets[depth] for depth in at]


def area(outcomes: Outcomes, row: int, sets: Sequence[int]) -> float:
    """The mean drop of the margin over the sets of an order."""
    return float(np.mean([outcomes.drop(row, mask) for mask in sets]))


def flip(outcomes: Outcomes, row: int, sets: Sequence[int], at: Sequence[int], count: int) -> float:
    """The share of the units that are removed when the decision first changes; NaN if it does not."""
    changed = (depth / count for depth, mask in zip(at, sets, strict=True) if outcomes(row, mask).changed)
    return next(changed, float("nan"))


def bounds(outcomes: Outcomes, steps: int) -> Float[ndarray, "bound batch"]:
    """The largest and the smallest area of any order that was found for each text: [2 batch].

    Of at most `EXACT` units every order is compared, by dynamic programming over their subsets; of more, a beam search
    continues the best sets so far by blocks of the units whose single removal has most effect.
    """
    counts = outcomes.units.count.tolist()
    found = np.full((2, len(counts)), np.nan)
    small = [row for row, count in enumerate(counts) if 2 <= count <= EXACT and steps >= count - 1]
    outcomes.ask((row, mask) for row in small for mask in range(1, 2 ** counts[row] - 1))
    for row in small:
        found[:, row] = _exact(outcomes, row, counts[row])
    rest = [row for row, count in enumerate(counts) if count >= 2 and row not in set(small)]
    if rest:
        outcomes.ask((row, 1 << unit) for row in rest for unit in range(counts[row]))
        for number, sign in enumerate((1, -1)):
            found[number, rest] = _beam(outcomes, rest, steps, sign)
    return found


def _exact(outcomes: Outcomes, row: int, count: int) -> tuple[float, float]:
    """By dynamic programming: the best way to a set is the best way to the set without its last unit."""
    best, worst = [0.0] * 2**count, [0.0] * 2**count
    for mask in range(1, 2**count - 1):
        drop, before = outcomes.drop(row, mask), [mask & ~(1 << unit) for unit in range(count) if mask >> unit & 1]
        best[mask] = drop + max(best[less] for less in before)
        worst[mask] = drop + min(worst[less] for less in before)
    last = [2**count - 1 - (1 << unit) for unit in range(count)]
    return max(best[mask] for mask in last) / (count - 1), min(worst[mask] for mask in last) / (count - 1)


def _beam(outcomes: Outcomes, rows: Sequence[int], steps: int, sign: int) -> list[float]:
    """The largest area that a beam search finds for each text; with `sign` -1 the smallest. All texts in step."""
    counts = outcomes.units.count
    at = {row: [0, *depths(int(counts[row]), steps)] for row in rows}
    ranked = {row: _by_single_effect(outcomes, row, int(counts[row]), sign) for row in rows}
    beams: dict[int, dict[int, float]] = {row: {0: 0.0} for row in rows}
    for step in range(1, max(len(each) for each in at.values())):
        going = [row for row in rows if step < len(at[row])]
        proposed = {
            row: {
                wider: total
                for mask, total in beams[row].items()
                for wider in _continued(mask, ranked[row], at[row][step] - at[row][step - 1])
            }
            for row in going
        }
        outcomes.ask((row, mask) for row in going for mask in proposed[row])
        for row in going:
            totals = {mask: total + sign * outcomes.drop(row, mask) for mask, total in proposed[row].items()}
            beams[row] = dict(sorted(totals.items(), key=lambda item: -item[1])[:WIDTH])
    return [sign * max(beams[row].values()) / (len(at[row]) - 1) for row in rows]


def _by_single_effect(outcomes: Outcomes, row: int, count: int, sign: int) -> list[int]:
    drops = np.array([outcomes.drop(row, 1 << unit) for unit in range(count)])
    return descending(sign * drops)


def _continued(mask: int, ranked: Order, block: int) -> list[int]:
    """A set with one of the next blocks of units added."""
    left = [unit for unit in ranked if not mask >> unit & 1]
    starts = range(0, min(len(left), CANDIDATES * block), block)
    return [
        mask | sum(1 << unit for unit in left[start : start + block]) for start in starts if start + block <= len(left)
    ]
