"""Which heads carry an answer: beside finite differences, and where one is known to."""

import json
import math

import pytest
import torch

from support import saved_models, zoo
from support.tokenizing import is_reader, reader
from whence.api import explain
from whence.core.attending import attending
from whence.data.examples import Example
from whence.explaining.head_importance import describe_heads, head_importance
from whence.subject.subject import load
from whence.subject.targets import predicted

TEXT = "the plot is dull"


@pytest.fixture(scope="module")
def subject():
    return load(saved_models.bert(), dtype="float64")


def turned(subject, batch, target, layer, head, by):
    """What is explained, while the context of one head is multiplied."""
    dense = subject.model.bert.encoder.layer[layer].attention.output.dense
    width = dense.in_features // subject.model.config.num_attention_heads
    before = dense.weight.detach().clone()
    with torch.no_grad():
        dense.weight[:, head * width : (head + 1) * width] *= by
        found = float(target.of(subject.logits(batch))[0])
        dense.weight.copy_(before)
    return found


def test_against_finite_differences(subject):
    batch = subject.encode([Example(TEXT)])
    target = predicted(subject, batch)
    heads = head_importance(subject, batch, target)
    assert len(heads) == 4
    for one in heads:
        up, down = (turned(subject, batch, target, one.layer, one.head, 1 + step) for step in (1e-4, -1e-4))
        assert one.effect == pytest.approx((up - down) / 2e-4, rel=1e-4, abs=1e-9)
    assert sum(one.share for one in heads) == pytest.approx(1)
    assert [one.share for one in heads] == sorted((one.share for one in heads), reverse=True)


def test_a_head_that_is_cut_off_carries_nothing(subject):
    dense = subject.model.bert.encoder.layer[1].attention.output.dense
    before = dense.weight.detach().clone()
    with torch.no_grad():
        dense.weight[:, : dense.in_features // 2] = 0  # the first of two heads
    batch = subject.encode([Example(TEXT)])
    least = head_importance(subject, batch, predicted(subject, batch))[-1]
    with torch.no_grad():
        dense.weight.copy_(before)
    assert (least.layer, least.head, least.effect) == (1, 0, 0)


def test_it_is_said_in_words_and_in_every_form(subject):
    explanation = explain(subject, TEXT, methods=("random",))
    first = explanation.heads[0]
    said = f"layer {first.layer} head {first.head} ({first.share:.0%})"
    assert said in explanation.to_text()
    assert said in explanation.to_html()
    assert "most important heads (of 4; 25.0% each" in explanation.to_text()
    assert json.loads(explanation.to_json())["heads"][0]["layer"] == first.layer
    assert explain(subject, TEXT, methods=("random",), summary=False).heads == ()


def test_where_there_is_one_head_nothing_is_said():
    alone = reader("additive-lstm-additive")
    batch = alone.encode([Example("the movie")])
    assert head_importance(alone, batch, predicted(alone, batch)) == ()
    assert describe_heads(()) == ""


def test_layers_that_attend_to_different_things_are_told_apart():
    translator = load(saved_models.translator())
    explanation = explain(translator, "so dull", target="the cast", methods=("random",))
    kinds = {one.kind for one in explanation.heads}
    assert "cross" in kinds
    assert len(kinds) > 1
    assert "(cross)" in describe_heads(explanation.heads)


@pytest.mark.parametrize("name", zoo.representatives(filter(is_reader, zoo.EVERY)))  # all in core/test_recompute.py
def test_any_model_of_the_house_can_be_asked(name):
    subject = reader(name)
    pair = "a film ?" if getattr(subject.model.config, "pairs", False) else None
    batch = subject.encode([Example("the movie was good", pair=pair, target="a film")], ahead=True)
    heads = head_importance(subject, batch, predicted(subject, batch))
    with attending(subject.model) as tape:
        subject.logits(batch)
    every = {(call.site.name, head) for call in tape.calls() for head in range(call.weights.shape[1])}
    assert {(one.site, one.head) for one in heads} == (every if len(every) > 1 else set())
    assert len(heads) == len({(one.site, one.head) for one in heads})
    assert all(math.isfinite(one.effect) for one in heads)
    assert sum(one.share for one in heads) == pytest.approx(1 if any(one.effect for one in heads) else 0)


def test_the_zoo_has_models_of_one_head_and_of_many():
    """So that the test above says something of both."""
    found = {bool(head_importance_of(name)) for name in ("additive-lstm-additive", "bert")}
    assert found == {False, True}


def head_importance_of(name):
    subject = reader(name)
    batch = subject.encode([Example("the movie was good")])
    return head_importance(subject, batch, predicted(subject, batch))
