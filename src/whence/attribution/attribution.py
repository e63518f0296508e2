"""What an explainer returns: a score for every token, and what the scores mean."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from whence.figures.tokens.text import as_html
from whence.subject.batch import Batch

SHOWN = 8  # texts shown in a notebook


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
        """The scores of the words of one text: the sum over each word's subwords."""
        mine = ~self.special[row] & (self.segment[row] == segment) & (self.word[row] >= 0)
        number = self.word[row][mine]
        return np.bincount(number, weights=self.scores[row][mine]).astype(float)  # also where there are none

    def of_first_subwords(self) -> "Attribution":
        """The same with zero on a word's later subwords, so that its score is the first one's, not their sum."""
        same = (np.diff(self.word) == 0) & (np.diff(self.segment) == 0) & (self.word[:, 1:] >= 0)
        later = np.pad(same & ~self.special[:, 1:] & ~self.special[:, :-1], ((0, 0), (1, 0)))  # [batch token]
        how = f"{self.how}; words: their first subword"
        return replace(self, how=how, scores=np.where(later, 0.0, self.scores).astype(self.scores.dtype))

    def by_word(self, spelled: Sequence[str]) -> "Attribution":
        """Of one text, the same with each word's subwords as one token, which has the sum of their scores.

        `spelled` is for every token the word that it belongs to. Special tokens stay as they are.
        """
        (word, segment, special), n = (one[0] for one in (self.word, self.segment, self.special)), len(spelled)
        same = (np.diff(word) == 0) & (np.diff(segment) == 0) & ~special[1:] & ~special[:-1] & (word[1:] >= 0)
        begins = np.concatenate([[True], ~same])[:n]  # [token]
        first = np.flatnonzero(begins)
        scores = np.bincount(begins.cumsum() - 1, weights=self.scores[0])[None].astype(self.scores.dtype)
        arrays = {name: getattr(self, name)[:, first] for name in ("word", "segment", "special")}
        tokens = tuple(spelled[token] or self.tokens[0][token] for token in first.tolist())
        return replace(
            self, how=f"{self.how}; words: sums over their subwords", scores=scores, tokens=(tokens,), **arrays
        )

    def text(self, row: int) -> list[tuple[str, float]]:
        """The tokens of one text that are not special, each with its score."""
        mine = ~self.special[row]
        return [(t, float(s)) for t, s, keep in zip(self.tokens[row], self.scores[row], mine, strict=True) if keep]

    def __repr__(self) -> str:
        return f"Attribution({self.method}: {self.how}; {len(self.tokens)} texts)"

    def _repr_html_(self) -> str:
        """The first texts, their tokens shaded by score."""
        texts = [self.text(row) for row in range(min(len(self.tokens), SHOWN))]
        return "".join(
            as_html([token for token, _ in text], {f"{self.method} ({self.how})": [score for _, score in text]})
            for text in texts
        )


def attribution(scores: torch.Tensor, batch: Batch, method: str, how: str, *, signed: bool = False) -> Attribution:
    """An attribution of these scores to a batch's tokens; of a narrative they may come with a row for each window."""
    found = scores.detach().float().cpu().numpy().reshape(batch.special.shape)
    return Attribution(
        method,
        how,
        found,
        batch.tokens,
        batch.word.numpy(),
        batch.segment.numpy(),
        batch.special.numpy(),
        batch.examples.numpy(),
        signed,
    )
