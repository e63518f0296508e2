"""Attention that is computed again during backward: the same gradients, and no layer's weights kept meanwhile."""

from functools import partial
from typing import Any

import pytest
import torch
import transformers as hf
from torch.testing import assert_close

from support import zoo
from support.held import most_matrices
from support.tokenizing import is_reader, reader
from whence.core.attending import attending
from whence.core.checkpointing import checkpointed, unchanging
from whence.core.overrides import temperature
from whence.data.examples import Example
from whence.explaining.head_importance import HeadFactors, head_importance
from whence.subject.subject import Subject
from whence.subject.targets import predicted

LONG = "the movie was good " * 12


def unstreamed(subject, batch, target):
    """Σ α ∂y/∂α by site and head, all weights on a tape, and no checkpointing."""
    with torch.enable_grad(), subject.embedded(), attending(subject.model) as tape:
        explained = target.of(subject.logits(batch))
        calls = tape.calls()
        gradients = torch.autograd.grad(explained.sum(), [call.weights for call in calls], allow_unused=True)
    found: dict[tuple[str, int], float] = {}
    for call, gradient in zip(calls, gradients, strict=True):
        for head in range(call.weights.shape[1]):
            own = 0.0 if gradient is None else float((call.weights * gradient)[:, head].detach().double().sum())
            found[call.site.name, head] = found.get((call.site.name, head), 0.0) + own
    return found


@pytest.mark.parametrize("name", [family.name for family in filter(is_reader, zoo.EVERY)])
def test_the_same_numbers_as_with_all_weights_held(name):
    subject = reader(name)
    pair = "a film ?" if getattr(subject.model.config, "pairs", False) else None
    batch = subject.encode([Example("the movie was good", pair=pair, target="a film")], ahead=True)
    target = predicted(subject, batch)
    expected = unstreamed(subject, batch, target)
    heads = {(one.site, one.head): one.effect for one in head_importance(subject, batch, target)}
    assert heads.keys() == (expected.keys() if len(expected) > 1 else set())
    largest = max(map(abs, expected.values()))
    for place, effect in heads.items():
        assert effect == pytest.approx(expected[place], rel=1e-4, abs=1e-6 * largest + 1e-9)


def deep(kind: str, layers: int) -> Subject:
    sizes = zoo.BERT | {"num_hidden_layers": layers}
    classes: dict[str, Any] = {
        "bert": hf.BertForSequenceClassification,
        "deberta": hf.DebertaV2ForSequenceClassification,
    }
    model = classes[kind](classes[kind].config_class(**sizes)).eval()
    return Subject(model, reader("bert").tokenizer, "sequence-classification")


@pytest.mark.parametrize("kind", ["bert", "deberta"])
def test_what_is_held_does_not_grow_with_depth(kind):
    """Heads one after another (BERT), and all heads of a layer together (DeBERTa)."""
    held = {}
    for layers in (2, 6):
        subject = deep(kind, layers)
        batch = subject.encode([Example(LONG)])
        target, length = predicted(subject, batch), batch.special.shape[1]
        whole, streamed = (
            most_matrices(partial(run, subject, batch, target), length) for run in (unstreamed, head_importance)
        )
        held[layers] = whole, streamed
    heads = zoo.BERT["num_attention_heads"]
    assert held[6][0] - held[2][0] >= 4 * heads
    assert held[6][1] == held[2][1]
    if kind == "bert":
        assert held[6][1] < 2 * heads


def test_other_blocks_outside_are_attended_again_too():
    """An override of an outer block acts in the second run as in the first."""
    subject = reader("bert")
    batch = subject.encode([Example("the movie was good")])
    target = predicted(subject, batch)
    with attending(subject.model, override=temperature(0.5), watch=None):
        expected, heads = unstreamed(subject, batch, target), head_importance(subject, batch, target)
    assert {(one.site, one.head): one.effect for one in heads} == pytest.approx(expected, rel=1e-4, abs=1e-9)


def test_a_prediction_is_not_changed_by_factors_of_one():
    subject = reader("bert")
    batch = subject.encode([Example("the movie was good")])
    plain = subject.logits(batch)
    with attending(subject.model, override=HeadFactors(), watch=None, recompute=True):
        assert_close(subject.logits(batch), plain, atol=1e-6, rtol=1e-6)


def test_what_a_function_could_change_is_not_run_twice():
    ran, cache = [], {"keys": object()}

    def function(x, past):
        ran.append(past)
        return x.exp()

    x = torch.ones(2, requires_grad=True)
    checkpointed(function)(x, cache).sum().backward()
    assert len(ran) == 1
    checkpointed(function)(x, None).sum().backward()
    assert len(ran) == 3
    assert unchanging(((x, (1, None), "a"), {"mask": [x]}))
    assert not unchanging(([object()], {}))
