"""Tracing attention when heads have other numbers, and its memory on long texts."""

import weakref

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from torch.testing import assert_close

from support.models.pooled_reader import stacked, with_heads_moved
from support.tokenizing import reader
from support.tracing import EXAMPLES, METHODS, scores
from whence.attribution.layer_stack import LONG, Following
from whence.attribution.registry import explainer
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.core.head_order import relabelled
from whence.data.examples import Example
from whence.explainers.lat import traced
from whence.subject.targets import Target

# heads under other numbers: the same function


def orders(seed, subject, heads=4):
    generator = np.random.default_rng(seed)
    layers = [name for name in subject.sites if name != "local"]
    return {name: generator.permutation(heads).tolist() for name in layers}


@settings(max_examples=5)
@given(st.permutations(range(4)).filter(lambda order: list(order) != [0, 1, 2, 3]), st.booleans())
def test_one_order_in_all_layers_changes_nothing_and_in_one_layer_it_does(order, pooled):
    subject = stacked(pooled=pooled)
    batch = subject.encode(EXAMPLES)
    layers = [name for name in subject.sites if name != "local"]
    everywhere, at_one = ({name: list(order) for name in names} for names in (layers, layers[1:2]))
    for changed, moved in (
        (everywhere, with_heads_moved(subject, everywhere)),
        (at_one, with_heads_moved(subject, at_one)),
    ):
        assert_close(moved.predict(batch), subject.predict(batch))  # truly moved: the same function
        for method in METHODS:
            before, after = scores(method, subject, batch), scores(method, moved, batch)
            with relabelled(subject.model, changed):
                assert_allclose(scores(method, subject, batch), after, atol=1e-6)  # as if they had been moved
            same = method != "lat" or changed is everywhere
            assert np.allclose(before, after, atol=1e-6) == same


def test_other_numbers_change_the_order_of_tokens_by_lat_alone():
    subject = stacked(depth=6, heads=8)
    batch = subject.encode([Example("the movie was not good but the story was bad"), Example("a good film")])
    with relabelled(subject.model, orders(0, subject, 8)):
        again = {method: scores(method, subject, batch) for method in METHODS}
    assert_allclose(again["lat_mixed"], scores("lat_mixed", subject, batch), atol=1e-6)
    assert_allclose(again["rollout"], scores("rollout", subject, batch), atol=1e-6)
    assert np.abs(again["lat"] - scores("lat", subject, batch)).max() > 0.01


# memory


def test_no_layers_weights_are_kept():
    """When a layer attends, the weights of those before it are gone, but for the one that made the product so far."""
    subject = stacked(depth=8)
    batch = subject.encode(EXAMPLES)
    alive: list[int] = []
    seen: list[weakref.ref[torch.Tensor]] = []

    def count(call):
        alive.append(sum(ref() is not None for ref in seen))
        seen.append(weakref.ref(call.weights))

    for method in METHODS:
        alive.clear()
        seen.clear()
        with attending(subject.model, watch=count):
            explainer(method)(subject, batch, Target(torch.zeros(3).long(), torch.zeros(3).long()))
        assert len(alive) == 9
        assert max(alive) <= 2


def test_long_texts_have_their_heads_one_after_another_and_the_same_scores():
    subject = reader("gpt-neox")
    batch = subject.encode([Example("good " * 60), Example("a bad film")])
    assert batch.special.shape[1] <= LONG
    together = {method: scores(method, subject, batch) for method in METHODS}
    seen, whole = [], Following.__call__

    def noted(self, call):
        seen.append(call.heads)
        return whole(self, call)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("whence.attribution.layer_stack.LONG", 10)
        patch.setattr(Following, "__call__", noted)
        for method in METHODS:
            assert_allclose(scores(method, subject, batch), together[method], atol=1e-6)
        assert seen == [(0,), (1,), (2,), (3,)] * 2 * 3
        whole_trace = traced(subject, batch)  # keeps all heads of all layers, and gets them together
    assert seen[-2:] == [(0, 1, 2, 3)] * 2
    assert_allclose(whole_trace.raw, scores("lat", subject, batch, normalize="none"), atol=1e-6)


def test_layers_of_unlike_heads():
    """Head by head they do not fit; mixed they do."""
    subject = stacked(depth=2)
    subject.model.layers[1].attention.heads = 2
    batch = subject.encode(EXAMPLES)
    with pytest.raises(BadConfig, match=r"layers\.1\.attention has 2 heads, the lowest layer 4; see lat_mixed"):
        scores("lat", subject, batch)
    assert_allclose(scores("lat_mixed", subject, batch, normalize="none").sum(1), 4.0, rtol=1e-5)
    assert_allclose(scores("rollout", subject, batch).sum(1), 1.0, rtol=1e-5)
