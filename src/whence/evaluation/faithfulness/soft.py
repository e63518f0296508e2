"""Soft comprehensiveness and sufficiency: parts of word vectors are removed, more of them where scores say so.

Zhao & Aletras 2023, Eqs. 4 to 8. Every element of a word's vector is kept with probability q: for sufficiency q is the
word's score, for comprehensiveness one minus it. With p the decision's probability, p′ that of the thinned text and p₀
that of a text whose words are all zero,

    soft sufficiency = (1 − (p − p′)₊ − S₀) / (1 − S₀),  soft comprehensiveness = (p − p′)₊ / (1 − S₀),
    S₀ = 1 − (p − p₀)₊

Scores are scaled to lie between 0 and 1 within each text. Special tokens are kept. Texts whose decision is no less
probable without any word (S₀ = 1) have neither.

Differs from the authors' code: of its two variants one keeps with the opposite probability; this is the paper's.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy import ndarray
from torch import Tensor

from whence.core.seeds import stream
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target

Scores = Float[ndarray, "batch token"]


def scaled(scores: Scores, inputs: Bool[ndarray, "batch token"]) -> Scores:
    """Scores from 0 (the lowest of a text's inputs) to 1 (the highest); one half where all are equal."""
    low = np.where(inputs, scores, np.inf).min(1, keepdims=True)
    high = np.where(inputs, scores, -np.inf).max(1, keepdims=True)
    wide = np.where(high > low, high - low, 1.0)
    return np.where(inputs, np.where(high > low, (scores - low) / wide, 0.5), 1.0)


@torch.no_grad()
def soft_metrics(
    subject: Subject,
    batch: Batch,
    target: Target,
    scores: Mapping[str, Scores],
    inputs: Bool[ndarray, "batch token"],
    numbers: Sequence[int],
    draws: int,
    seed: int,
) -> dict[str, tuple[Float[ndarray, " batch"], Float[ndarray, " batch"]]]:
    """For every method the soft comprehensiveness and the soft sufficiency of each text, means of the draws."""
    with subject.embedded() as leaves:
        whole = _probability(subject, batch, target)
    vectors = leaves[0].detach()
    nothing = thinned(vectors, torch.from_numpy(np.where(inputs, 0.0, 1.0)), [0] * len(batch), "zero", seed)
    spared = np.maximum(whole - _with(subject, batch, target, nothing), 0.0)  # 1 − S₀
    found = {}
    for method, given in scores.items():
        keep = scaled(given, inputs)
        kept = {"comprehensiveness": np.where(inputs, 1 - keep, 1.0), "sufficiency": keep}
        fallen = {name: np.zeros(len(batch)) for name in kept}
        for draw in range(draws):
            for name, share in kept.items():
                less = thinned(vectors, torch.from_numpy(share), numbers, f"soft {name} {draw}", seed)
                fallen[name] += np.maximum(whole - _with(subject, batch, target, less), 0.0) / draws
        with np.errstate(divide="ignore", invalid="ignore"):
            both = fallen["comprehensiveness"] / spared, (spared - fallen["sufficiency"]) / spared
        found[method] = tuple(np.where(spared > 0, each, np.nan) for each in both)
    return found  # type: ignore[return-value]  # tuples of two


def thinned(
    vectors: Tensor, keep: Float[Tensor, "batch token"], numbers: Sequence[int], purpose: str, seed: int
) -> Tensor:
    """Word vectors of which every element is kept with its token's probability, by each example's random numbers."""
    drawn = torch.stack(
        [torch.rand(vectors.shape[1:], generator=stream(seed, f"{purpose} {number}")) for number in numbers]
    )
    return vectors * (drawn < keep[..., None]).to(vectors)


def _with(subject: Subject, batch: Batch, target: Target, vectors: Tensor) -> Float[ndarray, " batch"]:
    with subject.embedded(vectors):
        return _probability(subject, batch, target)


def _probability(subject: Subject, batch: Batch, target: Target) -> Float[ndarray, " batch"]:
    logits = subject.logits(batch)
    rows = torch.arange(len(batch))
    at = logits[rows, target.positions.to(logits.device)].double().softmax(-1).cpu()
    return at[rows, target.classes].numpy()
