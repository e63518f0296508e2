"""Watchers that reduce while the model runs give what the whole tape would have given."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from support.subjects import outputs, subject
from whence import HeadProduct, Rollout, Summary, attending, sites
from whence.huggingface.interface_site import InterfaceSite
from whence.huggingface.probe import natively_eager

ENCODERS = ["transformer-pre-sinusoidal", "bert", "albert", "deberta-v2", "llama", "gpt-oss", "vit"]
SQUARE = [name for name in ENCODERS if name != "gpt-oss"]  # a sink is one column more


def watched(name, watcher):
    """The watcher fed while the model ran, and the weights recorded in another run: [depth batch head query key]."""
    model, inputs = subject(name)
    with attending(model, watch=watcher):
        outputs(model, inputs)
    with attending(model) as tape:
        outputs(model, inputs)
    return [call.weights.double() for call in tape.calls()], [call.mask for call in tape.calls()]


@pytest.mark.parametrize("name", SQUARE)
def test_rollout_agrees_with_a_slow_loop(name):
    rollout = Rollout()
    layers, _ = watched(name, rollout)
    batch, heads, tokens, _ = layers[0].shape
    expected = torch.eye(tokens, dtype=torch.float64).expand(batch, -1, -1)
    for weights in layers:
        step = torch.zeros(batch, tokens, tokens, dtype=torch.float64)
        for head in range(heads):
            step += weights[:, head] / heads
        step += torch.eye(tokens)
        expected = (step / step.sum(-1, keepdim=True)) @ expected
    assert_close(rollout.product.double(), expected, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("name", SQUARE)
def test_reading_some_positions_is_the_product_read_there(name):
    rollout = Rollout()
    layers, _ = watched(name, rollout)
    positions = torch.rand(len(layers[0]), layers[0].shape[-1], generator=torch.Generator().manual_seed(0))
    before = rollout.read_from(positions)
    assert_close(before, torch.einsum("bi,bij->bj", positions, rollout.product))
    assert_close(rollout.read_from(positions), before)  # also after the product was made


@pytest.mark.parametrize("name", SQUARE)
def test_rollout_without_residual_is_the_product_of_head_means(name):
    rollout = Rollout(residual=False)
    layers, _ = watched(name, rollout)
    assert_close(rollout.product.double(), layers[1].mean(1) @ layers[0].mean(1), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("name", SQUARE)
def test_the_head_product_traces_a_row_vector_down_the_layers(name):
    """Wu et al. 2020, Eq. 8: from the top layer down, v ← v A for each head; the slow way, token by token."""
    product = HeadProduct()
    layers, _ = watched(name, product)
    batch, heads, tokens, _ = layers[0].shape
    start = torch.rand(batch, tokens, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    for head in range(heads):
        v = start
        for weights in reversed(layers):
            v = torch.stack([sum(v[:, i] * weights[:, head, i, j] for i in range(tokens)) for j in range(tokens)], 1)
        traced = torch.einsum("bi,bij->bj", start, product.product[:, head].double())
        assert_close(traced, v, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("name", ENCODERS)
def test_the_summary_is_that_of_the_recorded_weights(name):
    summary = Summary()
    layers, masks = watched(name, summary)
    for site, weights, mask in zip(sites(subject(name)[0]), layers, masks, strict=True):
        rows = mask.any(-1).expand(weights.shape[:-1])
        entropy = torch.distributions.Categorical(probs=weights.clamp_min(1e-300)).entropy()
        assert_close(summary.entropy[site][0].double(), torch.where(rows, entropy, 0.0), atol=1e-5, rtol=1e-5)
        assert_close(summary.maximum[site][0].double(), weights.max(-1).values, atol=1e-6, rtol=1e-5)
        mean = weights.sum(-2) / rows.sum(-1, keepdim=True)
        assert_close(summary.mean[site][0].double(), mean, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("make", [Rollout, HeadProduct])
def test_products_are_on_the_graph_when_there_is_one(make):
    """The gradient of a rollout with respect to the first layer's weights, against a finite difference."""
    model, inputs = subject("bert")
    with attending(model) as tape:
        outputs(model, inputs)
    calls = tape.calls()

    def rolled(first):
        watcher = make()
        for call, weights in zip(calls, [first, calls[1].weights], strict=True):
            watcher(_with(call, weights.double()))
        return watcher.product.double().pow(2).sum()

    first = calls[0].weights.double().requires_grad_()
    (gradient,) = torch.autograd.grad(rolled(first), first)
    step = torch.zeros_like(first)
    step[0, 1, 2, 3] = 1e-3
    numeric = (rolled(first.detach() + step) - rolled(first.detach() - step)) / 2e-3
    assert_close(gradient[0, 1, 2, 3], numeric, rtol=1e-2, atol=1e-3)


def test_heads_come_one_after_another_where_the_model_allows_it():
    model, inputs = subject("llama")
    shapes = []

    class Heads:
        streams_heads = True

        def __call__(self, call):
            shapes.append((call.heads, tuple(call.weights.shape)))

    with attending(model, watch=Heads()):
        outputs(model, inputs)
    assert [heads for heads, _ in shapes] == [(0, 1), (2, 3)] * 2  # two query heads share a key head
    assert {shape for _, shape in shapes} == {(2, 2, 11, 11)}
    shapes.clear()
    with attending(model, watch=Heads()):
        model(**inputs)  # with gradient they come together
    assert [heads for heads, _ in shapes] == [(0, 1, 2, 3)] * 2


def test_adoption_finds_out_who_cannot_slice_heads():
    model, _ = subject("gpt-oss")  # its sinks are a parameter over all heads
    assert not any(module.sliceable for module in model.modules() if isinstance(module, InterfaceSite))


@given(st.permutations(range(4)))
def test_rollout_does_not_change_when_heads_change_places_and_the_head_product_does(order):
    model, inputs = subject("bert")
    with attending(model) as tape:
        outputs(model, inputs)
    calls = tape.calls()
    plain, moved, own, others = Rollout(), Rollout(), HeadProduct(), HeadProduct()
    shuffled = [calls[0], *(_with(call, call.weights[:, list(order)]) for call in calls[1:])]
    for call, other in zip(calls, shuffled, strict=True):
        for watcher, shown in ((plain, call), (own, call), (moved, other), (others, other)):
            watcher(shown)
    assert_close(moved.product, plain.product)
    if list(order) != sorted(order):
        assert not torch.allclose(others.product.sum(1), own.product.sum(1))


def _with(call, weights):
    from dataclasses import replace

    return replace(call, weights=weights)


def test_products_of_layers_that_do_not_fit_are_refused():
    model, inputs = subject("bart")
    for watch, complaint in [
        (Rollout(), r"'model.decoder.layers.0.self_attn' does not fit: it \(causal\) is not of the stack before it"),
        ({"*.encoder_attn": HeadProduct()}, r"'.*encoder_attn' does not fit: it is cross"),
    ]:
        with pytest.raises(ValueError, match=complaint), attending(model, watch=watch):
            outputs(model, inputs)
    rollout = Rollout()
    with attending(model, watch={"model.encoder.*": rollout}):
        outputs(model, inputs)
    assert rollout.product.shape == (2, 11, 11)
    sink_model, sink_inputs = subject("gpt-oss")
    with pytest.raises(ValueError, match="gives part of its weight to a sink"), attending(sink_model, watch=Rollout()):
        outputs(sink_model, sink_inputs)
    with attending(model, watch={"model.encoder.*": Rollout()}):
        outputs(model, inputs)
        with pytest.raises(ValueError, match="called a second time; take a new watcher"):
            outputs(model, inputs)


def test_a_layer_that_broke_off_in_the_middle_is_begun_anew():
    model, inputs = subject("bert")
    whole, broken = Rollout(), Rollout()
    with attending(model, watch=whole):
        outputs(model, inputs)

    class Breaks:
        streams_heads = True
        done = False

        def __call__(self, call):
            if call.heads == (1,) and not self.done:
                self.done = True
                raise ArithmeticError

    with pytest.raises(ArithmeticError), attending(model, watch=[broken, Breaks()]):
        outputs(model, inputs)
    with attending(model, watch=broken):
        outputs(model, inputs)
    assert_close(broken.product, whole.product)


def test_streaming_leaves_reported_attentions_alone():
    """Who asks an eager model for its attentions gets them, also while a rollout is watching."""
    model, inputs = subject("bert")
    with natively_eager(model), torch.no_grad():
        expected = model(**inputs, output_attentions=True).attentions
        with attending(model, watch=Rollout()):
            got = model(**inputs, output_attentions=True).attentions
    assert len(got) == len(expected) == 2
    assert_close(got[1], expected[1])
