"""The rows of `representation_erasure`: what is lost without each part, means over texts with intervals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from whence.data.rng import seeded_rng
from whence.measures.intervals import ratio_intervals

LABELS = 10  # most labels for which parts are reported separately
HALVES = ("chosen_by", "reported", "reported_low", "reported_high")


@dataclass(frozen=True, eq=False)
class Losses:
    """Of each text what is lost without each part of one place, in nats, summed over how often the part occurs in it.

    `parts` are numbers, or words.
    """

    place: str
    parts: Sequence[Any]
    lost: Float[ndarray, "example part"]
    count: Float[ndarray, "example part"]


def mean(values: Float[ndarray, "example part"], count: Float[ndarray, "example part"]) -> Float[ndarray, " part"]:
    """Over all occurrences in all texts; NaN where a part never occurs."""
    return _ratio(values.sum(0), count.sum(0))


def _ratio(part: ndarray, whole: ndarray) -> ndarray:
    return np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole > 0)


def relative(
    found: Losses, whole: Float[ndarray, " example"]
) -> tuple[Float[ndarray, "example part"], Float[ndarray, "example part"]]:
    """Losses as shares of |S|; texts with S = 0 have none and are left out."""
    sure: Bool[ndarray, " example"] = whole >= 0
    size = np.where(sure, np.inf, np.abs(whole))[:, None]
    return found.lost / size, np.where(sure[:, None], 0.0, found.count)


def rows(found: Losses, whole: Any, labels: Any, seed: int) -> Iterator[dict[str, Any]]:
    """The rows of one place."""
    shares, counted = relative(found, whole)
    choosing = seeded_rng(seed, "halves").permutation(len(whole)) < len(whole) // 2
    halves = (
        mean(found.lost[choosing], found.count[choosing]),
        *ratio_intervals(found.lost[~choosing], found.count[~choosing])[:3],
    )
    of_all = {"importance": ratio_intervals(shares, counted)[:3], "lost": ratio_intervals(found.lost, found.count)[:3]}
    there = found.count > 0
    for part, name in enumerate(found.parts):
        number, word = (part, name) if isinstance(name, str) else (name, "")
        which = {"place": found.place, "part": number, "word": word}
        yield {
            **which,
            "label": "",
            **{
                f"{measure}{end}": value[part]
                for measure, values in of_all.items()
                for end, value in zip(("", "_low", "_high"), values, strict=True)
            },
            **{name: value[part] for name, value in zip(HALVES, halves, strict=True)},
            "texts": int(there[:, part].sum()),
            "occurrences": int(found.count[:, part].sum()),
            "half": int(there[~choosing, part].sum()),
        }
        yield from ({**which, **row} for row in _by_label(found, (shares, counted), labels, part))


def _by_label(found: Losses, shares: tuple[Any, Any], labels: Any, part: int) -> Iterator[dict[str, Any]]:
    """The means over the texts of each label, where there are few labels; no intervals."""
    there = sorted(set(labels.tolist()) - {""})
    missing = dict.fromkeys([*HALVES, *(f"{m}_{end}" for m in ("importance", "lost") for end in ("low", "high"))])
    for label in there if len(there) <= LABELS else ():
        mine = labels == label
        count = found.count[mine, part]
        if count.sum():
            yield {
                **missing,
                "label": label,
                "lost": found.lost[mine, part].sum() / count.sum(),
                "importance": float(mean(shares[0][mine, part, None], shares[1][mine, part, None])[0]),
                "texts": int((count > 0).sum()),
                "occurrences": int(count.sum()),
                "half": 0,
            }
