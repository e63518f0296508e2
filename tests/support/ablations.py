"""Ablation tables by hand, for tests of what is computed from them."""

from collections.abc import Sequence

import pandas as pd

from whence.experiments.ablation import COLUMNS

Scores = Sequence[Sequence[float]]


def ablation_table(base: Scores, ablated: Scores, counts: tuple[str, str] | None = None) -> pd.DataFrame:
    """Scores of examples, by seed, with uniform attention: at inference, and in training too."""
    before_counts, after_counts = counts or (None, None)
    rows = [
        {
            "example": number,
            "label": "a",
            "place": "all",
            "variant": "uniform",
            "when": when,
            "seed": seed,
            "base": before,
            "ablated": after,
            "base_counts": before_counts,
            "ablated_counts": after_counts,
        }
        for when in ("train+infer", "infer")
        for seed, (first, second) in enumerate(zip(base, ablated, strict=True))
        for number, (before, after) in enumerate(zip(first, second, strict=True))
    ]
    return COLUMNS.table(rows)
