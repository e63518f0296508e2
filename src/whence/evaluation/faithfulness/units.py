"""What is removed from a text: its words, or where there are many, spans of consecutive words."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from whence.subject.batch import Batch

MOST = 62  # units of a text: sets of them are the bits of a number


@dataclass(frozen=True, eq=False)
class Units:
    """For every token the number of the unit that it belongs to, -1 if it cannot be removed; `count` for each text.

    `span` is how many words make a unit.
    """

    index: Int[ndarray, "batch token"]
    count: Int[ndarray, " batch"]
    span: Int[ndarray, " batch"]

    def removed(self, rows: Int[ndarray, " pair"], masks: Int[ndarray, " pair"]) -> Bool[ndarray, "pair token"]:
        """The tokens of these texts that are in the sets of units, each given by the bits of a number."""
        index = self.index[rows]
        return ((masks[:, None] >> np.maximum(index, 0)) & 1).astype(bool) & (index >= 0)

    def sums(self, scores: Float[ndarray, "batch token"]) -> list[Float[ndarray, " _"]]:
        """The score of each unit: the sum over its tokens."""
        return [
            np.bincount(index[index >= 0], weights=row[index >= 0], minlength=count)
            for index, row, count in zip(self.index, scores.astype(float), self.count.tolist(), strict=True)
        ]

    def first_token(self, row: int, unit: int) -> int:
        """Where a unit of a text begins."""
        return int((self.index[row] == unit).argmax())


def units_of(
    batch: Batch, inputs: Bool[ndarray, "batch token"], what: Literal["words", "tokens"] = "words", most: int = MOST
) -> Units:
    """The units of each text, in reading order: the words that have inputs among their tokens, or single tokens.

    A text with more than `most` of them is divided into spans of equally many.
    """
    index, count, span = np.full(inputs.shape, -1), [], []
    for row, mine in enumerate(inputs):
        places = np.flatnonzero(mine)
        word, segment = batch.word[row].numpy()[places], batch.segment[row].numpy()[places]
        same = (np.diff(word) == 0) & (np.diff(segment) == 0) & (word[1:] >= 0) & (what == "words")
        number = np.concatenate([[0], (~same).cumsum()])[: len(places)]
        n = int(number[-1]) + 1 if len(places) else 0
        wide = max(1, -(-n // most))
        index[row, places] = number // wide
        count.append(-(-n // wide))
        span.append(wide)
    return Units(index, np.array(count), np.array(span))
