"""Gates: models that learned nothing are recognised, those that learned something pass."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from support.contexts import TASKS
from support.contexts import context as context_of
from whence.analysis.gates import too_few, why_gated
from whence.evaluation.agreement import agreement


def table(labels, predictions) -> pd.DataFrame:
    """The columns of a text classifier, from their definition."""
    labels, predictions = np.asarray(labels), np.asarray(predictions)
    chance = [(predictions == label).mean() for label in labels]
    return pd.DataFrame({"example": range(len(labels)), "correct": labels == predictions, "chance": chance}).astype(
        {"correct": float}
    )


@pytest.mark.parametrize("n", [20, 50, 300])
@pytest.mark.parametrize("share", [0.5, 0.9])
def test_models_that_learned_nothing_are_gated(n, share):
    rng = np.random.default_rng(0)
    passed = 0
    for _ in range(100):
        labels, guesses = rng.random((2, n)) < share
        passed += not why_gated(table(labels, guesses))
        assert "not clearly better than chance" in why_gated(table(labels, np.ones(n, bool)))
    assert passed <= 4  # one in two hundred is expected


@pytest.mark.parametrize(("n", "right", "share"), [(20, 0.9, 0.5), (50, 0.8, 0.5), (300, 0.95, 0.9)])
def test_models_that_learned_something_pass(n, right, share):
    rng = np.random.default_rng(1)
    gated = 0
    for _ in range(50):
        labels = rng.random(n) < share
        gated += bool(why_gated(table(labels, np.where(rng.random(n) < right, labels, ~labels))))
    assert gated <= 5


def test_few_examples_and_missing_labels():
    assert why_gated(table([0, 1] * 5, [0, 1] * 5)) == too_few(10) != ""
    unlabelled = table([0, 1] * 20, [0, 1] * 20).assign(correct=np.nan, chance=np.nan)
    assert why_gated(unlabelled) == ""
    assert "There is 1 text," in too_few(1, what="text")


@pytest.mark.parametrize("kind", TASKS)
def test_agreement_is_that_of_a_slow_loop(kind):
    some = context_of(kind, n=12)
    found = agreement(some)
    seen: list[tuple[int, int, int]] = []
    for number, example in enumerate(some.examples):
        batch = some.subject.encode([example], [number])
        guess = some.subject.predict(batch)[0].argmax(-1)
        for position in np.flatnonzero(batch.predicted_positions[0]):
            seen.append((int(batch.labels[0, position]), int(guess[position]), number))
    labels, classes, owners = np.array(seen).T
    for number in range(12):
        mine = (owners == number) & (labels >= 0)
        assert found.correct[number] == pytest.approx((labels[mine] == classes[mine]).mean())
        assert found.chance[number] == pytest.approx(np.mean([(classes == label).mean() for label in labels[mine]]))
    if kind == "bert":  # one prediction per text: Cohen's kappa
        above = (found.correct - found.chance).mean() / (1 - found.chance.mean())
        assert above == pytest.approx(cohen_kappa_score(labels, classes))
