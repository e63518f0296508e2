"""Sinks: by loops over heads and queries, and planted; and what explainers say without them."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from tokenizing import reader
from whence.core.attending import attending
from whence.core.site import Call, Site
from whence.data.examples import Example
from whence.explainers import explainer, sinks
from whence.explainers._parts import Layer, taken_apart
from whence.models.targets import predicted

EXAMPLES = [Example("the movie was not good"), Example("unbelievable movies !"), Example("bad")]


def explained(method, subject, batch, **options):
    return explainer(method)(subject, batch, predicted(subject, batch), **options)


def planted():
    """Two heads, three tokens: both look at token 0, whose value is nothing in the first and large in the second."""
    weights = torch.tensor([[0.8, 0.1, 0.1], [0.6, 0.2, 0.2], [0.7, 0.2, 0.1]]).expand(1, 2, 3, 3)
    values = torch.tensor([[[0.01, 0.0], [1.0, 0.0], [0.0, 2.0]], [[3.0, 4.0], [1.0, 0.0], [0.0, 1.0]]])[None]
    mask = torch.ones(1, 1, 3, 3, dtype=torch.bool)
    return Layer(Call(Site("a", 0, "self"), weights, mask, None, None, 0, (0, 1), 2), values)


def test_a_planted_sink_is_found_in_the_head_that_has_it():
    found = sinks.drawn_and_given([planted()])
    assert_allclose(found.weight[0], [[0.7, 0.5 / 3, 0.4 / 3]] * 2, rtol=1e-6)
    given = np.array([[2.1 * 0.01, 0.5, 0.4 * 2], [2.1 * 5, 0.5, 0.4]])
    assert_allclose(found.share[0], given / given.sum(1, keepdims=True), rtol=1e-6)
    assert found.where[0].tolist() == [[True, False, False], [False, False, False]]


def test_weights_without_sinks_are_rows_again():
    call = planted().call
    where = torch.tensor([[[True, False, False], [False, False, False]]])
    left = sinks.without(call, {"a": where})
    assert_allclose(left[0, 0, 0], [0, 0.5, 0.5], rtol=1e-6)
    assert_allclose(left[0, 1], call.weights[0, 1])
    everything = sinks.without(call, {"a": torch.ones(1, 2, 3, dtype=torch.bool)})
    assert_allclose(everything, call.weights)  # nothing else to look at


@pytest.mark.parametrize("name", ["bert", "gpt2", "bart"])
def test_a_slow_loop_over_a_models_heads(name):
    subject = reader(name)
    batch = subject.encode([Example(e.text, target="the good film") for e in EXAMPLES])
    found, layers = sinks.found(subject, batch), {}
    taken_apart(subject, batch, list(found), False, lambda one: layers.setdefault(one.call.site.name, one))
    for site, one in found.items():
        weights, mapped = layers[site].weights, layers[site].mapped
        mask = layers[site].call.mask.expand(layers[site].call.weights.shape)
        for text, head in ((0, 0), (1, 3), (2, 2)):
            drawn, given = np.zeros(weights.shape[-1]), np.zeros(weights.shape[-1])
            for key in range(weights.shape[-1]):
                asking = [q for q in range(weights.shape[2]) if mask[text, head, q, key]]
                drawn[key] = np.mean([float(weights[text, head, q, key]) for q in asking]) if asking else 0
                lengths = [float((weights[text, head, q, key] * mapped[text, head, key]).norm()) for q in asking]
                given[key] = sum(lengths)
            assert_allclose(one.weight[text, head], drawn, atol=1e-6)
            assert_allclose(one.share[text, head], given / given.sum(), atol=1e-6)


def test_scores_are_shares_of_heads(monkeypatch):
    subject = reader("bert")
    batch = subject.encode(EXAMPLES)
    monkeypatch.setattr(sinks, "DRAWN", 0.2)
    monkeypatch.setattr(sinks, "GIVEN", 0.95)
    found = explained("sinks", subject, batch)
    where = torch.cat([layer.where for layer in sinks.found(subject, batch).values()], 1)
    assert where.shape[1] == 8
    assert where.any()
    assert_allclose(found.scores, where.double().mean(1), atol=1e-6)
    assert f"{where.any(2).double().mean():.0%} of 8 heads have a sink" in found.how


@pytest.mark.parametrize("method", ["raw_attention", "rollout", "flow"])
def test_explainers_leave_them_out_and_say_so(method, monkeypatch):
    subject = reader("bert")
    batch = subject.encode(EXAMPLES)
    none = explained(method, subject, batch, without_sinks=True)
    monkeypatch.setattr(sinks, "DRAWN", 0.2)
    monkeypatch.setattr(sinks, "GIVEN", 0.95)
    found = explained(method, subject, batch, without_sinks=True)
    where = {name: layer.where for name, layer in sinks.found(subject, batch).items()}
    with torch.no_grad(), attending(subject.model, {n: lambda call: sinks.without(call, where) for n in where}):
        pass
    if method == "raw_attention":
        with torch.no_grad(), attending(subject.model) as tape:
            subject.model(**batch.inputs)
        last = list(subject.sites)[-1]
        expected = sinks.without(tape.only(last), where)[:, :, 0].mean(1)
        assert_allclose(found.scores, expected, atol=1e-6)
    share = torch.cat(list(where.values()), 1).any(2).double().mean()
    assert f"sinks left out ({share:.0%} of heads have one)" in found.how
    assert np.abs(found.scores - none.scores).max() > 1e-3
    assert "sinks" not in explained(method, subject, batch).how
