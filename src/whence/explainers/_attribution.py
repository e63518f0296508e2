"""What an explainer returns: a score for every token, and what the scores mean."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from whence.models.batch import Batch


@dataclass(frozen=True, eq=False)
class Attribution:
    """Scores [batch token] by one method. `how` states every choice that was made; `signed` scores may be below zero.

    Special tokens and padding keep their scores here; `words` leaves them out.
    """

    method: str
    how: str
    scores: Float[ndarray, "batch token"]
    tokens: tuple[tuple[str, ...], ...]
    word: Int[ndarray, "batch token"]
    segment: Int[ndarray, "batch token"]
    special: Bool[ndarray, "batch token"]
    examples: Int[ndarray, " batch"]
    signed: bool = False

    def words(self, row: int, segment: int = 0) -> Float[ndarray, " word"]:
        """The scores of the words of one text: the sum over each word's pieces."""
        mine = ~self.special[row] & (self.segment[row] == segment) & (self.word[row] >= 0)
        number = self.word[row][mine]
        return np.bincount(number, weights=self.scores[row][mine]).astype(float)  # also where there are none

    def text(self, row: int) -> list[tuple[str, float]]:
        """The tokens of one text that are not special, each with its score."""
        mine = ~self.special[row]
        return [(t, float(s)) for t, s, keep in zip(self.tokens[row], self.scores[row], mine, strict=True) if keep]


def attribution(
    scores: torch.Tensor, batch: Batch, method: str, how: str, *, signed: bool = False, **unused: Any
) -> Attribution:
    """An attribution of these scores to a batch's tokens."""
    return Attribution(
        method, how, scores.detach().float().cpu().numpy(), batch.tokens, batch.word.numpy(), batch.segment.numpy(),
        batch.special.numpy(), batch.examples.numpy(), signed,
    )  # fmt: skip
