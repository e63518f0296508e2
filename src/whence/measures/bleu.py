"""BLEU (Papineni et al. 2002) as sacrebleu computes it, from counts that can be added up."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from sacrebleu.metrics.bleu import BLEU

ORDERS = 4  # n-grams of one to four words
COUNTS = 2 * ORDERS + 2  # matching n-grams, all n-grams, length, length of the reference


def bleu_counts(
    translations: Sequence[str], references: Sequence[str], *, lowercase: bool = False
) -> Float[ndarray, "example count"]:
    """The counts of BLEU for each sentence; a corpus's BLEU is that of the sum of its sentences' counts.

    Sentences are cut into words by sacrebleu's `13a`, so that it does not matter how they were tokenised.
    """
    metric = BLEU(lowercase=lowercase, effective_order=True)
    rows = []
    for translation, reference in zip(translations, references, strict=True):
        score = metric.sentence_score(translation, [reference])
        rows.append([*score.counts, *score.totals, score.sys_len, score.ref_len])
    return np.array(rows, float).reshape(-1, COUNTS)


def bleu(counts: Float[ndarray, "*corpora count"]) -> Float[ndarray, "*corpora"]:
    """BLEU from 0 to 100 of counts that were summed over a corpus; many corpora at once.

    The geometric mean of the four n-gram precisions, times exp(1 − r/c) where the translations (c) are shorter
    than the references (r). A share of zero is smoothed by halving, as sacrebleu's default `exp` does.
    """
    matching, there = counts[..., :ORDERS], counts[..., ORDERS : 2 * ORDERS]
    length, wanted = counts[..., -2], counts[..., -1]
    nothing = (matching == 0) & (there > 0)
    halved = 2.0 ** -np.cumsum(nothing, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(nothing, halved, matching) / there
        brevity = np.where(length < wanted, np.exp(1 - wanted / length), 1.0)
        score = 100 * brevity * np.exp(np.log(shares).mean(-1))
    return np.asarray(np.where((there > 0).all(-1) & matching.any(-1), score, 0.0))


def sentence_bleu(counts: Float[ndarray, "example count"]) -> Float[ndarray, " example"]:
    """BLEU from 0 to 100 of single sentences; n-grams longer than a sentence do not count (effective order)."""
    found = [
        BLEU.compute_bleu(
            row[:ORDERS].astype(int).tolist(),
            row[ORDERS:-2].astype(int).tolist(),
            int(row[-2]),
            int(row[-1]),
            smooth_method="exp",
            effective_order=True,
        ).score
        for row in counts
    ]
    return np.array(found, float)
