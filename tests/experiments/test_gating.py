"""Gating: gates worked one word at a time, and what another question does."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from support import zoo
from support.contexts import context as context_of
from support.tokenizing import wordpiece
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.data.examples import Example
from whence.evaluation.context import Context
from whence.experiments import gating
from whence.subject.subject import Subject

CONFIG = gating.Config(model="m", data="d")


def test_a_single_texts_attention_is_a_gate():
    some = context_of("additive", n=12, batch_size=5)
    table = gating.run(CONFIG, some)
    assert table["example"].tolist() == list(range(12))
    assert table["off"].max() <= 1e-6
    assert table["moved"].max() <= 1e-6
    assert not table["second"].any()
    verdict = gating.verdict(table)
    assert (verdict.question, verdict.answer) == (1, "no")
    assert "can be rewritten as a gate on single words" in verdict.sentence
    assert gating.figure(table).axes


@torch.no_grad()
def test_the_gate_is_worked_word_by_word():
    """vᵀ tanh(W h + b) of each word, in a loop and by hand, gives the weights that the model has."""
    some = context_of("additive", n=1)
    model, batch = some.subject.model, some.first_batch()
    with attending(model, keep=("values",)) as tape:
        probs = some.subject.predict(batch)
    call = tape.only("attention")
    project, v = model.score.project, model.score.v
    gates = [float((v.weight @ torch.tanh(project.weight @ h + project.bias)).exp()) for h in call.values[0, 0]]
    gates = [gate if may else 0.0 for gate, may in zip(gates, call.mask[0, 0, 0], strict=True)]
    weights = torch.tensor([gate / sum(gates) for gate in gates])
    torch.testing.assert_close(weights, call.weights[0, 0, 0], atol=1e-6, rtol=1e-5)
    again = model.decoder((weights[:, None] * call.values[0, 0]).sum(0)[None], None).softmax(-1)
    torch.testing.assert_close(again, probs[0], atol=1e-6, rtol=1e-5)


def test_another_question_moves_the_weights_of_a_pair(story_reader, stories):
    examples = stories["test"][:40]
    some = Context(story_reader, examples, range(40), quiet=True, name="gating", batch_size=7)
    table = gating.run(CONFIG, some)
    other = gating.partners_with_other_pair([example.pair for example in examples])
    for number in range(0, 40, 7):
        example, stranger = examples[number], examples[other[number]]
        assert stranger.pair != example.pair
        asked = replace(example, pair=stranger.pair, pair_words=stranger.pair_words)
        weights = []
        for one in (example, asked):
            with attending(story_reader.model) as tape:
                story_reader.predict(story_reader.encode([one]))
            weights.append(tape.only("attention").weights[0, 0, 0, : len(example.words) + 1].numpy())
        assert table["moved"][number] == pytest.approx(abs(weights[0] - weights[1]).sum() / 2, abs=1e-5)
        change = story_reader.predict(story_reader.encode([one])) - story_reader.predict(story_reader.encode([example]))
        assert table["off"][number] == pytest.approx(float(change.abs().max()), abs=1e-5)  # no bypass: attention alone
    assert table["second"].all()
    assert gating.verdict(table).answer == "yes"
    assert "no gate" in gating.verdict(table).sentence


@pytest.mark.parametrize("name", ["additive-pairs-conditional", "additive-dot-pairs-bypass"])
def test_a_question_that_was_read_on_from_the_text_is_read_on_from_the_same_text(name):
    """Whatever is handed from the first text to the second is the first text's own, the second another's."""
    subject = Subject(zoo.BY_NAME[name].build(), wordpiece())
    examples = [
        Example("the film is not bad", pair="a film ?"),
        Example("bad", pair="not good at all"),
        Example("a good movie !", pair="bad ?"),
    ]
    table = gating.run(CONFIG, Context(subject, examples, range(3), quiet=True, name="gating", batch_size=2))
    for number, example in enumerate(examples):
        weights = []
        for pair in (example.pair, examples[(number + 1) % 3].pair):
            with attending(subject.model) as tape:
                subject.predict(subject.encode([replace(example, pair=pair)]))
            weights.append(tape.only("attention").weights[0, 0, 0])
        n = min(map(len, weights))  # the first text stands first
        moved = (weights[0][:n] - weights[1][:n]).abs().sum() / 2
        assert table["moved"][number] == pytest.approx(float(moved), abs=1e-6)
        assert float(moved) > 0 or number == 1  # of one word nothing can move


@pytest.mark.parametrize("kind", ["bert", "translator"])
def test_other_attention_is_not_spoken_about(kind):
    with pytest.raises(BadConfig, match=r"Proposition 4\.1 does not cover\. Expected the model `additive`"):
        gating.run(CONFIG, context_of(kind, n=1))


def test_the_next_with_another_question():
    assert gating.partners_with_other_pair(["a", "a", "b", "c"]) == [2, 2, 3, 0]
    assert gating.partners_with_other_pair(["a", "a"]) == [0, 1]
    assert gating.partners_with_other_pair([None]) == [0]


@pytest.mark.parametrize(
    ("second", "off", "moved", "answer"),
    [
        (False, 1e-7, 0.0, "no"),
        (False, 1e-3, 0.0, "undecided"),
        (True, 0.5, 0.4, "yes"),
        (True, 0.0, 0.01, "no"),
        (True, 0.0, 0.05, "undecided"),
    ],
)
def test_the_verdict(second, off, moved, answer):
    rows = {"example": range(9), "label": [""] * 9, "second": [second] * 9, "off": [off] * 9, "moved": [moved] * 9}
    table = gating.COLUMNS.table(rows)
    assert gating.verdict(table).answer == answer
    assert np.isfinite(gating.verdict(table).effects[0].value)
