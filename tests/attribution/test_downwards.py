"""Layers that run again from the top down: the same scores as products of matrices, and less work for a long text."""

import pytest
import torch
from numpy.testing import assert_allclose

from support.tokenizing import reader
from whence.attribution import downwards
from whence.attribution.registry import explainer
from whence.data.examples import Example
from whence.subject.targets import predicted

EXAMPLES = [Example("the movie was not good"), Example("unbelievable movies !"), Example("bad")]
FAMILIES = ["bert", "gpt2", "albert", "deberta-v2", "mistral", "transformer-pre-none", "pooled-query-none-binary"]


def multiplied(monkeypatch, pay: bool) -> None:
    """Let a second pass always pay, or never."""
    monkeypatch.setattr(downwards, "PASS", 0 if pay else 10**9)


@pytest.mark.parametrize("method", ["lat", "lat_mixed", "rollout"])
@pytest.mark.parametrize("name", FAMILIES)
def test_top_down_is_bottom_up(method, name, monkeypatch):
    subject = reader(name)
    batch = subject.encode(EXAMPLES)
    target = predicted(subject, batch)
    monkeypatch.setattr(f"whence.explainers.{method}.WAITING", 0, raising=False)
    for options in ({}, {"without_sinks": 0.2}) if name != "deberta-v2" else ({},):  # which shows no values
        multiplied(monkeypatch, pay=True)
        down = explainer(method)(subject, batch, target, **options)
        multiplied(monkeypatch, pay=False)
        up = explainer(method)(subject, batch, target, **options)
        assert_allclose(down.scores, up.scores, atol=1e-6)
        assert down.how == up.how


def test_each_layer_runs_twice_and_no_more(monkeypatch):
    subject = reader("bert")
    batch = subject.encode(EXAMPLES)
    runs: list[object] = []
    hooks = [layer.register_forward_hook(lambda *_: runs.append(1)) for layer in subject.model.bert.encoder.layer]
    target = predicted(subject, batch)
    runs.clear()
    multiplied(monkeypatch, pay=True)
    explainer("lat")(subject, batch, target)
    for hook in hooks:
        hook.remove()
    assert len(runs) == 2 * len(subject.model.bert.encoder.layer)


def test_a_layer_that_does_not_run_alone_is_watched_in_a_whole_pass(monkeypatch):
    """A layer whose output depends on how often it was called."""
    subject = reader("bert")
    batch = subject.encode(EXAMPLES)
    target = predicted(subject, batch)
    multiplied(monkeypatch, pay=False)
    expected = explainer("lat")(subject, batch, target).scores
    layer, calls = subject.model.bert.encoder.layer[1], [0]

    def other_each_time(module, args, output):
        calls[0] += 1
        return output + 0.1 * calls[0] if isinstance(output, torch.Tensor) else (output[0] + calls[0], *output[1:])

    multiplied(monkeypatch, pay=True)
    hook = layer.register_forward_hook(other_each_time)
    try:
        found = explainer("lat")(subject, batch, target).scores
    finally:
        hook.remove()
    assert_allclose(found, expected, atol=1e-6)  # it is the last layer: what it puts out changes no weights
