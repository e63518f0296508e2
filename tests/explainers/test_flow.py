"""Attention flow against every cut of small networks and against networkx; what is made of heads, by slow loops."""

from itertools import product

import networkx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from support.models.pooled_reader import stacked
from support.tokenizing import reader
from whence.attribution.registry import explainer
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.data.examples import Example
from whence.explainers.flow import bounds, flows
from whence.subject.targets import predicted

EXAMPLES = [Example("the movie was not good"), Example("unbelievable movies !"), Example("bad")]
FUSE = {"mean": lambda heads: sum(heads) / len(heads), "max": np.maximum.reduce, "min": np.minimum.reduce}


def explained(method, subject, batch, **options):
    return explainer(method)(subject, batch, predicted(subject, batch), **options)


def network_of(layers, start):
    """Nodes (level, token), the inputs at level 0, and one above; edges with their capacities."""
    edges = {("read", (len(layers), token)): start[token] for token in range(len(start))}
    for level, matrix in enumerate(layers):
        for upper, lower in product(range(len(start)), repeat=2):
            edges[(level + 1, upper), (level, lower)] = matrix[upper, lower]
    return {edge: float(capacity) for edge, capacity in edges.items() if capacity > 0}


def least_cut(edges, token):
    """The maximum flow is the least capacity of all cuts: every set of nodes with the source and without the sink."""
    nodes = sorted({node for edge in edges for node in edge} - {"read", (0, token)}, key=str)
    cuts = []
    for chosen in product([False, True], repeat=len(nodes)):
        above = {"read"} | {node for node, yes in zip(nodes, chosen, strict=True) if yes}
        cuts.append(sum(c for (a, b), c in edges.items() if a in above and b not in above))
    return min(cuts)


def rows(generator, tokens, depth, sparse=0.3):
    layers = generator.random((depth, tokens, tokens)) ** 3 * (generator.random((depth, tokens, tokens)) > sparse)
    layers += 1e-3 * np.eye(tokens)
    start = generator.random(tokens)
    return list(layers / layers.sum(-1, keepdims=True)), start / start.sum()


@settings(max_examples=25, deadline=None)
@given(shape=st.sampled_from([(1, 3), (2, 2), (2, 1), (1, 6), (3, 1), (3, 0), (7, 0)]), seed=st.integers(0, 999))
def test_it_is_the_least_cut_of_networks_of_up_to_eight_nodes(shape, seed):
    tokens, depth = shape
    layers, start = rows(np.random.default_rng(seed), tokens, depth) if depth else ([], np.full(tokens, 1 / tokens))
    found = flows(layers, start)
    if not depth:
        assert_allclose(found, start)
        return
    edges = network_of(layers, start)
    assert 1 + tokens * (depth + 1) <= 8
    assert_allclose(found, [least_cut(edges, token) for token in range(tokens)], atol=1e-8)


@pytest.mark.parametrize(("tokens", "depth", "seed"), [(6, 3, 0), (9, 2, 1), (5, 6, 2)])
def test_networkx_finds_the_same(tokens, depth, seed):
    layers, start = rows(np.random.default_rng(seed), tokens, depth)
    graph = networkx.DiGraph()
    for (upper, lower), capacity in network_of(layers, start).items():
        graph.add_edge(upper, lower, capacity=capacity)
    expected = [networkx.maximum_flow_value(graph, "read", (0, token)) for token in range(tokens)]
    found = flows(layers, start)
    assert_allclose(found, expected, atol=1e-7)
    assert (found <= bounds(layers, start) + 1e-7).all()
    chosen = np.arange(tokens) % 2 == 0
    assert_allclose(flows(layers, start, chosen), found * chosen)


@pytest.mark.parametrize(
    ("name", "heads", "residual"),
    [
        ("bert", "mean", True),
        ("gpt2", "max", True),
        ("llama", "min", True),
        ("xlm-roberta", "mean", False),
    ],
)
def test_a_models_layers_are_the_network(name, heads, residual):
    subject = reader(name)
    batch = subject.encode(EXAMPLES)
    with torch.no_grad(), attending(subject.model) as tape:
        subject.model(**batch.inputs)
    attribution = explained("flow", subject, batch, heads=heads, residual=residual, row="last")
    baseline = explained("flow_bound", subject, batch, heads=heads, residual=residual, row="last")
    for text, real in enumerate(batch.mask):
        layers, places = [], np.flatnonzero(real)
        for name in subject.sites:
            matrix = FUSE[heads](list(tape.only(name).weights[text].double().numpy()))
            matrix = matrix + residual * np.eye(len(matrix))
            layers.append(matrix / np.maximum(matrix.sum(-1, keepdims=True), 1e-12))
        start = np.eye(len(real))[places[-1]]
        graph = networkx.DiGraph()
        for (upper, lower), capacity in network_of(layers, start).items():
            graph.add_edge(upper, lower, capacity=capacity)
        for token in range(len(real)):
            reached = graph.has_node((0, token)) and bool(real[token])
            expected = networkx.maximum_flow_value(graph, "read", (0, token)) if reached else 0.0
            assert attribution.scores[text, token] == pytest.approx(expected, abs=1e-6)
        column = np.minimum(1, layers[0][real.numpy()].sum(0)) * real.numpy()  # nothing comes down to padding
        assert_allclose(baseline.scores[text], column, atol=1e-6)
    assert f"heads: {heads}, residual: {'yes' if residual else 'no'}" in attribution.how
    assert "of tokens at the bound min(1, column of layer 1)" in attribution.how
    assert baseline.how in attribution.how


def test_a_local_attention_is_the_node_that_is_read():
    subject = stacked(depth=2)
    batch = subject.encode(EXAMPLES)
    with torch.no_grad(), attending(subject.model) as tape:
        subject.model(**batch.inputs)
    found = explained("flow", subject, batch)
    for text in range(len(EXAMPLES)):
        layers = [
            call.weights[text].mean(0).double().numpy() + np.eye(batch.special.shape[1])
            for name, (call,) in tape.items()
            if name != "local"
        ]
        layers = [matrix / matrix.sum(-1, keepdims=True) for matrix in layers]
        start = tape.only("local").weights[text, 0, 0].double().numpy()
        assert_allclose(found.scores[text], flows(layers, start) * batch.mask[text].numpy(), atol=1e-6)
    assert found.how.startswith("from: local attention (local), down 2 layers")


def test_without_layers_it_is_the_local_attention():
    subject = reader("additive-lstm-additive")
    batch = subject.encode(EXAMPLES)
    assert_allclose(explained("flow", subject, batch).scores, explained("raw_attention", subject, batch).scores)


@pytest.mark.parametrize("heads", ["mean", "max", "min"])
@pytest.mark.parametrize("residual", [True, False])
def test_rollout_of_fused_heads_is_a_plain_product(heads, residual, monkeypatch):
    subject = reader("gpt-neox")
    batch = subject.encode(EXAMPLES)
    with torch.no_grad(), attending(subject.model) as tape:
        subject.model(**batch.inputs)
    expected = np.zeros(batch.special.shape)
    for text, real in enumerate(batch.mask.numpy()):
        rolled = np.eye(len(real))
        for name in subject.sites:
            matrix = FUSE[heads](list(tape.only(name).weights[text].double().numpy())) + residual * np.eye(len(real))
            rolled = matrix / np.maximum(matrix.sum(-1, keepdims=True), 1e-12) @ rolled
        expected[text] = rolled[np.flatnonzero(real)[-1]]
    assert_allclose(
        explained("rollout", subject, batch, heads=heads, residual=residual, row="last").scores, expected, atol=1e-6
    )
    monkeypatch.setattr("whence.attribution.layer_stack.LONG", 0)  # heads one after another
    assert_allclose(
        explained("rollout", subject, batch, heads=heads, residual=residual, row="last").scores, expected, atol=1e-6
    )


@pytest.mark.parametrize("method", ["rollout", "flow"])
def test_heads_that_cannot_be_fused(method):
    subject = reader("bert")
    batch = subject.encode(EXAMPLES)
    with pytest.raises(BadConfig, match="no heads 'sum'; choose from: mean, max, min"):
        explained(method, subject, batch, heads="sum")
    with pytest.raises(BadConfig, match=f"^{method} follows one stack of self-attention"):
        explained(method, reader("funnel"), reader("funnel").encode(EXAMPLES))


@pytest.mark.parametrize("name", ["bert", "gpt2", "transformer-post-learned"])
def test_padding_changes_neither_flow_nor_its_bound(name):
    """Padding, too, attends to tokens, and has columns of its own to add."""
    subject = reader(name)
    for method in ("flow", "flow_bound"):
        together = explained(method, subject, subject.encode(EXAMPLES))
        alone = explained(method, subject, subject.encode(EXAMPLES[2:]))
        assert_allclose(together.scores[2, : alone.scores.shape[1]], alone.scores[0], atol=1e-5)
        assert not together.scores[2, alone.scores.shape[1] :].any()


def test_of_a_long_text_only_the_highest_bounds_are_worked_out():
    subject = reader("bert")
    batch = subject.encode([Example("the movie was not good"), Example("bad")])
    target = predicted(subject, batch)
    whole, some, bound = (
        explainer(name)(subject, batch, target, **options)
        for name, options in (("flow", {}), ("flow", {"at_most": 3}), ("flow_bound", {}))
    )
    for text in range(2):
        highest = np.argsort(-bound.scores[text], kind="stable")[:3]
        others = np.setdiff1d(np.arange(len(bound.scores[text])), highest)
        assert_allclose(some.scores[text][highest], whole.scores[text][highest])
        assert_allclose(some.scores[text][others], bound.scores[text][others])
    assert "4 more tokens, of texts longer than 3, have the bound" in some.how
    assert "more tokens" not in whole.how
    with pytest.raises(BadConfig, match="one token of a text at least"):
        explainer("flow")(subject, batch, target, at_most=0)
