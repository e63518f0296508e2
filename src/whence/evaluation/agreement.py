"""Whether a model has learned anything: its predictions compared with the labels, and with shuffled labels."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from whence.evaluation.context import Context
from whence.subject.batch import Batch


class Agreement(NamedTuple):
    """For every example the share of its predictions that are right, and the share that would be if the labels were
    shuffled among all predictions; NaN where labels are missing.
    """

    correct: Float[ndarray, " example"]
    chance: Float[ndarray, " example"]

    def of(self, batch: Batch) -> dict[str, Float[ndarray, " batch"]]:
        """The columns of a batch's examples, as `analysis.gates` reads them."""
        rows = batch.examples.numpy()
        return {"correct": self.correct[rows], "chance": self.chance[rows]}


def agreement(context: Context) -> Agreement:
    """How well the predictions of a context's model agree with the labels.

    The mean of `correct − chance` is the numerator of Cohen's kappa: zero for a model whose predictions have nothing to
    do with the labels, and for one that always predicts the same class. Of values nothing is known.
    """
    return context.once("agreement", lambda: _agreement(context))


def _agreement(context: Context) -> Agreement:
    correct, chance = np.full((2, len(context.examples)), np.nan)
    if context.subject.task.predicts_values:
        return Agreement(correct, chance)
    pairs = [(batch, context.subject.predict(batch).argmax(-1).cpu()) for batch in context.all_batches()]
    predicted = torch.cat([classes[batch.predicted_positions] for batch, classes in pairs])
    share = torch.bincount(predicted, minlength=1).double() / max(len(predicted), 1)  # [class]
    for batch, classes in pairs:
        known = batch.predicted_positions & (batch.labels >= 0)
        n, rows = known.sum(-1), batch.examples.numpy()
        by_chance = share[batch.labels.clamp(0, len(share) - 1).long()] * (batch.labels < len(share))
        right = ((classes == batch.labels) & known).sum(-1) / n  # 0 / 0 is NaN: no label is known
        correct[rows], chance[rows] = right.numpy(), ((by_chance * known).sum(-1) / n).numpy()
    return Agreement(correct, chance)
