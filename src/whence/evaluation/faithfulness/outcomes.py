"""What becomes of a prediction when sets of units are removed; each set is tried once."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import torch

from whence.evaluation.faithfulness.erasers import Eraser
from whence.evaluation.faithfulness.units import Units
from whence.measures.divergence import js_divergence

NOTHING = 0  # the set of units that is removed from a whole text


class Outcome(NamedTuple):
    """The decision's margin over the best other class and its probability, whether the decision changed, and the JS
    divergence between the predictions before and after, in nats.
    """

    margin: float
    probability: float
    changed: bool
    js: float


class Outcomes:
    """The outcomes of removing sets of units from the texts of a batch; a set is the bits of a number."""

    def __init__(self, eraser: Eraser, units: Units) -> None:
        self.eraser, self.units = eraser, units
        self.classes = eraser.target.classes
        every = torch.arange(len(eraser.batch))
        nothing = torch.zeros(eraser.batch.special.shape, dtype=torch.bool)
        at_once = eraser.at_once(nothing.shape[1])
        self.base = torch.cat([eraser(some, nothing[some]) for some in every.split(at_once)]).softmax(
            -1
        )  # [batch class]
        self._known: list[dict[int, Outcome]] = [{} for _ in every]
        self.ask((row, NOTHING) for row in every.tolist())

    def ask(self, wanted: Iterable[tuple[int, int]]) -> None:
        """Try these sets (text, units), many in one forward pass, except those that were tried before."""
        new = [pair for pair in dict.fromkeys(wanted) if pair[1] not in self._known[pair[0]]]
        if not new:
            return
        numbers, masks = np.array(new, dtype=np.int64).T
        rows, removed = torch.from_numpy(numbers), torch.from_numpy(self.units.removed(numbers, masks))
        for some in self._passes(self.eraser.lengths(rows, removed)):
            pairs = (new[at] for at in some.tolist())
            for (text, mask), outcome in zip(pairs, self._tried(rows[some], removed[some]), strict=True):
                self._known[text][mask] = outcome

    def _passes(self, lengths: torch.Tensor) -> Iterator[torch.Tensor]:
        """Which sets are tried in one forward pass: those of like length, the longest first."""
        order, begin = lengths.argsort(descending=True, stable=True), 0
        while begin < len(order):
            end = begin + self.eraser.at_once(int(lengths[order[begin]]))
            yield order[begin:end]
            begin = end

    def __call__(self, row: int, mask: int) -> Outcome:
        """The outcome of one set, which was asked for."""
        return self._known[row][mask]

    def drop(self, row: int, mask: int) -> float:
        """How far the margin falls when a set is removed."""
        return self._known[row][NOTHING].margin - self._known[row][mask].margin

    def any_change(self, row: int) -> bool:
        """Whether the decision changed without any of the sets tried."""
        return any(outcome.changed for outcome in self._known[row].values())

    def _tried(self, rows: torch.Tensor, removed: torch.Tensor) -> list[Outcome]:
        logits = self.eraser(rows, removed)  # [pair class]
        chosen, each = self.classes[rows], torch.arange(len(rows))
        others = logits.scatter(1, chosen[:, None], float("-inf")).amax(-1)
        probs = logits.softmax(-1)
        js = np.maximum(js_divergence(self.base[rows].numpy(), probs.numpy()), 0.0)
        margin = logits[each, chosen] - others
        columns = (margin.tolist(), probs[each, chosen].tolist(), (margin < 0).tolist(), js.tolist())
        return [Outcome(*values) for values in zip(*columns, strict=True)]
