"""Gradient checkpointing runs layers twice: overrides must be the same both times, and calls recorded once."""

import pytest
from torch.testing import assert_close

from support import zoo
from support.subjects import subject
from whence import adopt, attending, permuted, random, uniform
from whence.core.errors import CannotAttend

NAMES = ["bert", "modernbert", "llama", "t5", "gpt-j", "deberta-v2", "transformer-pre-sinusoidal"]


def without_dropout(name):
    family = zoo.BY_NAME[name]
    model = family.build()
    for module in model.modules():
        for attribute in ("p", "dropout", "attention_dropout"):
            if isinstance(getattr(module, attribute, None), float):
                setattr(module, attribute, 0.0)
    return (model if family.ours else adopt(model)).train()


def gradients(model, inputs, override, backward_inside=True, nested=None):
    model.zero_grad()
    with attending(model, override=override) as tape:
        if nested is None:
            loss = model(**inputs).logits.pow(2).mean()
        else:
            with attending(model, override=nested, watch=None):
                loss = model(**inputs).logits.pow(2).mean()
        if backward_inside:
            loss.backward()
    if not backward_inside:
        loss.backward()
    calls = {name: len(calls) for name, calls in tape.items()}
    return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}, calls


@pytest.mark.parametrize("backward_inside", [True, False])
@pytest.mark.parametrize("make", [lambda: None, lambda: uniform, lambda: random(0), lambda: permuted(0)])
@pytest.mark.parametrize("name", NAMES)
def test_checkpointed_gradients_are_the_plain_ones(name, make, backward_inside):
    model, (_, inputs) = without_dropout(name), subject(name)
    expected, plain_calls = gradients(model, inputs, make())
    model.gradient_checkpointing_enable({"use_reentrant": False})
    got, calls = gradients(model, inputs, make(), backward_inside)
    assert set(calls.values()) == {1}
    assert calls == plain_calls
    assert expected.keys() == got.keys()
    for parameter, gradient in expected.items():
        assert_close(got[parameter], gradient, msg=parameter)


def test_nested_blocks_are_both_taken_along():
    model, (_, inputs) = without_dropout("bert"), subject("bert")
    expected, _ = gradients(model, inputs, {"*layer.0*": random(1)}, nested={"*layer.1*": random(2)})
    model.gradient_checkpointing_enable({"use_reentrant": False})
    got, _ = gradients(model, inputs, {"*layer.0*": random(1)}, nested={"*layer.1*": random(2)}, backward_inside=False)
    for parameter, gradient in expected.items():
        assert_close(got[parameter], gradient, msg=parameter)


def test_two_passes_before_one_backward():
    """Gradient accumulation: the first pass is recomputed after the second has drawn its own numbers."""
    model, (_, inputs) = without_dropout("bert"), subject("bert")

    def accumulated():
        model.zero_grad()
        with attending(model, override=random(0), watch=None):
            loss = model(**inputs).logits.pow(2).mean() + 3 * model(**inputs).logits.pow(2).mean()
        loss.backward()
        return [p.grad.clone() for p in model.parameters() if p.grad is not None]

    expected = accumulated()
    model.gradient_checkpointing_enable({"use_reentrant": False})
    for got, gradient in zip(accumulated(), expected, strict=True):
        assert_close(got, gradient)


def test_training_mode_may_be_turned_on_inside_the_block():
    model, (_, inputs) = without_dropout("bert"), subject("bert")
    expected, _ = gradients(model, inputs, permuted(0))
    model.gradient_checkpointing_enable({"use_reentrant": False})
    model.zero_grad()
    model.eval()
    with attending(model, override=permuted(0)) as tape:
        model.train()
        model(**inputs).logits.pow(2).mean().backward()
    assert {len(calls) for calls in tape.values()} == {1}
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            assert_close(parameter.grad, expected[name], msg=name)


def test_checkpointing_that_began_inside_the_block_is_refused():
    model, (_, inputs) = without_dropout("bert"), subject("bert")
    with attending(model, override=permuted(0)):
        model.gradient_checkpointing_enable({"use_reentrant": False})
        loss = model(**inputs).logits.pow(2).mean()
        with pytest.raises(CannotAttend, match="turn gradient checkpointing on before"):
            loss.backward()


def test_the_layers_checkpoint_as_before_after_the_block():
    model, (_, inputs) = without_dropout("bert"), subject("bert")
    model.gradient_checkpointing_enable({"use_reentrant": False})
    functions = [m.__dict__.get("_gradient_checkpointing_func") for m in model.modules()]
    gradients(model, inputs, uniform)
    assert [m.__dict__.get("_gradient_checkpointing_func") for m in model.modules()] == functions


def test_reentrant_checkpointing_is_refused():
    model = without_dropout("bert")
    model.gradient_checkpointing_enable({"use_reentrant": True})
    with attending(model, override=uniform):
        with pytest.raises(CannotAttend, match=r"use_reentrant=True.*gradient_checkpointing_enable"):
            model(**subject("bert")[1])
        model.eval()(**subject("bert")[1])  # nothing is checkpointed in evaluation mode
    assert not any(getattr(module, "sessions", None) for module in model.modules())
