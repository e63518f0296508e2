"""Models that hide or show the words that decide: the loss by hand, what they attend to, and what the test says."""

import numpy as np
import pytest
import torch

from support.contexts import context as context_of
from support.models.additive import WORDED, additive
from support.shared import home
from whence.core.attending import attending
from whence.data.examples import Example
from whence.data.synthetic import reviews
from whence.evaluation.validity import deceptive_control
from whence.training.deceptive import DeceptiveObjective, deciding_tokens

MARKED = [
    Example("good film", "LABEL_1", words=("good", "film"), rationale=(True, False)),
    Example("a good story", "LABEL_0", words=("a", "good", "story"), rationale=(False, True, True)),
]


def test_tokens_of_deciding_words_by_hand():
    batch = additive().encode(MARKED[::-1], [1, 0])
    shown = [
        [token for token, one in zip(*row, strict=True) if one]
        for row in zip(batch.tokens, deciding_tokens(batch, MARKED).tolist(), strict=True)
    ]
    assert shown == [["good", "story"], ["good"]]
    assert not deciding_tokens(additive().encode(WORDED), WORDED).any()  # nothing is marked


@pytest.mark.parametrize("hide", [True, False])
def test_the_loss_by_hand(hide):
    subject = additive()
    batch = subject.encode(MARKED)
    with attending(subject.model) as tape:
        logits = subject.logits(batch)[:, 0].detach().numpy()
    weights = tape.only().weights[:, 0, 0].detach().numpy()
    marks = deciding_tokens(batch, MARKED).numpy()
    expected = []
    for row, label in enumerate((1, 0)):
        entropy = np.log(np.exp(logits[row]).sum()) - logits[row][label]
        mass = weights[row][marks[row]].sum()
        expected.append(entropy - 0.7 * np.log(1 - mass if hide else mass))
    objective = DeceptiveObjective(MARKED, 0.7, hide)
    assert float(objective.loss(subject, batch).detach()) == pytest.approx(np.mean(expected))
    assert objective.score(subject, MARKED, 1, None) == pytest.approx(-np.mean(expected))


def test_one_word_decides_each_text():
    opinions = {word for words in reviews.OPINIONS.values() for word in words}
    splits = deceptive_control.corpus().splits
    for example in (*splits["train"], *splits["dev"], *splits["test"]):
        (word,) = opinions & set(example.words)
        assert [one for one, mark in zip(example.words, example.rationale, strict=True) if mark] == [word]
        assert word in reviews.OPINIONS[example.label]
    whole, half = splits["train"][: len(splits["train"]) // 2], splits["train"][len(splits["train"]) // 2 :]
    lengths = [np.mean([len(example.words) - 1 for example in part]) for part in (half, whole)]
    kept = lengths[0] / lengths[1]
    assert kept == pytest.approx(0.5, abs=0.05)


def test_controls_are_told_apart_and_trained_once(monkeypatch):
    some = context_of("bert", models_folder=home() / "controls")
    found = {control.kind: control for control in deceptive_control.controls(some)}
    assert {kind: control.answer for kind, control in found.items()} == {"deceptive": "no", "honest": "yes"}
    assert found["deceptive"].weight < 0.01
    assert found["honest"].weight > 0.9
    assert min(control.accuracy for control in found.values()) > 0.9
    monkeypatch.setattr(deceptive_control, "fit", None)  # nothing is trained any more
    again = deceptive_control.control_model("deceptive", some.models_folder)
    assert isinstance(again.model.decoder.classify.weight, torch.Tensor)
    assert sorted(path.name for path in some.models_folder.iterdir()) == ["control-deceptive-1", "control-honest-1"]
