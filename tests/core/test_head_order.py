"""Heads under other numbers: the model does what it did, and watchers see another order."""

import pytest
import torch
from torch.testing import assert_close

from support.subjects import outputs, subject
from whence import HeadProduct, Rollout, attending, imposed, sites
from whence.core.head_order import relabelled

FAMILIES = ["transformer-pre-sinusoidal", "bert", "deberta-v2", "llama", "gpt-oss"]


@pytest.mark.parametrize("name", FAMILIES)
def test_watchers_see_another_order_and_the_model_does_the_same(name):
    model, inputs = subject(name)
    first = next(iter(sites(model)))
    with attending(model, keep=("scores", "values")) as tape:
        plain = outputs(model, inputs)
    heads = tape[first][0].n_heads
    with relabelled(model, {first: list(reversed(range(heads)))}), attending(model, keep=("scores", "values")) as other:
        assert_close(outputs(model, inputs), plain, atol=0.0, rtol=0.0)
    seen, was = other.only(first), tape.only(first)
    assert_close(seen.weights, was.weights.flip(1))
    assert seen.heads == was.heads
    assert (seen.scores is None) == (was.scores is None)
    if was.values is not None and was.values.shape[1] > 1:
        assert_close(seen.values, was.values.flip(1))
    second = list(sites(model))[1]
    assert_close(other.only(second).weights, tape.only(second).weights)
    with attending(model) as after:
        outputs(model, inputs)
    assert_close(after.only(first).weights, was.weights)


def test_overrides_see_the_heads_as_they_are():
    model, inputs = subject("bert")
    first = next(iter(sites(model)))
    with attending(model) as tape:
        plain = outputs(model, inputs)
    same = {first: imposed(tape.only(first).weights)}
    with relabelled(model, {first: [1, 0, 3, 2]}), attending(model, override=same, watch=None):
        assert_close(outputs(model, inputs), plain)


def test_products_under_other_numbers():
    """Streaming watchers get all heads of a layer together then, in the new order."""
    model, inputs = subject("bert")
    order = {list(sites(model))[1]: [2, 3, 1, 0]}
    with attending(model) as tape:
        outputs(model, inputs)
    lower, upper = (call.weights for call in tape.calls())
    with (
        relabelled(model, order),
        attending(model, watch=[product := HeadProduct(), rollout := Rollout(residual=False)]),
    ):
        outputs(model, inputs)
    assert_close(product.product, upper[:, [2, 3, 1, 0]] @ lower)
    assert_close(rollout.product, upper.mean(1) @ lower.mean(1))


def test_a_shared_layer_has_one_order():
    model, inputs = subject("albert")
    names = list(sites(model))
    with attending(model) as tape:
        outputs(model, inputs)
    with relabelled(model, {names[0]: [3, 2, 1, 0]}), attending(model) as other:
        outputs(model, inputs)
    for name in names:
        assert_close(other.only(name).weights, tape.only(name).weights.flip(1))
    unlike = relabelled(model, {names[0]: [3, 2, 1, 0], names[1]: [0, 1, 2, 3]})
    with pytest.raises(ValueError, match="is one layer that is called several times; its heads have one order"), unlike:
        pass


def test_orders_that_are_none():
    model, inputs = subject("bert")
    first = next(iter(sites(model)))
    twice, short = relabelled(model, {first: [0, 0, 1, 2]}), relabelled(model, {first: [1, 0]})
    with pytest.raises(ValueError, match=r"expected an order of the heads 0 to 3 .* got \[0, 0, 1, 2\]"), twice:
        pass
    with pytest.raises(ValueError, match=r"of 4 heads, got one of 2: \[1, 0\]"), short, attending(model):
        outputs(model, inputs)
    with attending(model) as tape, torch.no_grad():
        model(**inputs)
    assert tape.only(first).heads == (0, 1, 2, 3)
