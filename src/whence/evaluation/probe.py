"""Probes: small classifiers trained to predict a label from a vector, and their control labels.

Two kinds, both of scikit-learn, on vectors of mean 0 and variance 1 in training: logistic regression, and one hidden
layer of rectified units. Neither is tuned: what layers are compared by is the same for all of them.
"""

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from whence.data.probing.tasks import Item, words_of

Kind = Literal["logistic", "mlp"]
STEPS = 1000  # of a logistic regression, at most
PENALTY, RATE, BATCH = 1e-2, 3e-3, 32  # of an MLP: on its weights, of Adam, examples at a time


@dataclass(frozen=True)
class Probe:
    """A kind of probe. `strength` is the C of scikit-learn: the smaller, the simpler a logistic regression; `units` and
    `epochs` are an MLP's, and `seed` that of its initialisation.
    """

    kind: Kind
    strength: float = 0.01
    units: int = 50
    epochs: int = 20
    seed: int = 0

    def model(self) -> Any:
        """The classifier, untrained."""
        if self.kind == "logistic":
            from sklearn.linear_model import LogisticRegression

            return LogisticRegression(C=self.strength, max_iter=STEPS)
        from sklearn.neural_network import MLPClassifier

        return MLPClassifier(
            (self.units,),
            alpha=PENALTY,
            batch_size=BATCH,
            learning_rate_init=RATE,
            max_iter=self.epochs,
            random_state=self.seed,
        )

    def correct(
        self,
        train: Float[ndarray, "item width"],
        labels: Sequence[str],
        test: Float[ndarray, "test width"],
        test_labels: Sequence[str],
    ) -> Bool[ndarray, " test"]:
        """Train the probe; whether it predicts the label of each test vector."""
        if len(set(labels)) == 1:
            return np.asarray(test_labels) == labels[0]
        mean, spread = train.mean(0), train.std(0)
        scaled = [(side - mean) / np.where(spread > 0, spread, 1) for side in (train, test)]
        model = self.model()
        with warnings.catch_warnings():  # an MLP is stopped after its epochs on purpose
            from sklearn.exceptions import ConvergenceWarning

            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(scaled[0], np.asarray(labels))
        return model.predict(scaled[1]) == np.asarray(test_labels)


def most_frequent(labels: Sequence[str], test_labels: Sequence[str]) -> Bool[ndarray, " test"]:
    """Whether the most frequent training label is correct; of equally frequent ones the first by name."""
    names, counts = np.unique(labels, return_counts=True)
    return np.asarray(test_labels) == names[counts.argmax()]


def control_labels(items: Sequence[Item], labels: Sequence[str], name: str, seed: int) -> list[str]:
    """Random control labels: every type of first word has one, drawn at random, the same in training and test.

    Hewitt & Liang 2019, §2: a control task gives each *word type* a random label with the shares of the true ones, so
    that it can only be memorised. *Differs from the paper*, whose tasks are about words: a
    sentence has the label of its first word's type (in lower case), for a type must come again in the test, which
    sentences do not. `labels` are the true ones of training. The label is a hash, the same on every machine.
    """
    names, counts = np.unique(labels, return_counts=True)
    ends = np.cumsum(counts) / counts.sum()  # of each label's share of the line from 0 to 1
    places = [chance(f"{seed}/{name}/{words_of(item.example)[0].lower()}") for item in items]
    return [str(names[min(int(np.searchsorted(ends, place, side="right")), len(names) - 1)]) for place in places]


def chance(name: str) -> float:
    """A pseudorandom number from 0 to 1, always the same for a name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") / 2**64
