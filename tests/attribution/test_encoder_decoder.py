"""Rollout and flow through an encoder and a decoder, against one large matrix a layer and against networkx."""

import networkx
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from support.tokenizing import reader
from whence.attribution.registry import explainer
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.data.examples import Example
from whence.subject.targets import predicted

EXAMPLES = [
    Example("the movie was not good", target="the good movie"),
    Example("unbelievable movies !", target="a"),
    Example("bad", target="bad film"),
]
FUSE = {"mean": lambda heads: sum(heads) / len(heads), "max": np.maximum.reduce, "min": np.minimum.reduce}
Node = tuple[str, int, int]  # side, level, token
TRANSLATORS = ["bart", "t5", "transformer-seq2seq-post"]


def explained(method, subject, batch, **options):
    return explainer(method)(subject, batch, predicted(subject, batch), **options)


def edges_of(subject, batch, text, heads, residual):
    """Every edge of one text, {(upper, lower): weight}, nodes being (side, level, token); and the topmost level.

    Levels of the source count its encoder's layers, those of the target every attention of the decoder.
    """
    with torch.no_grad(), attending(subject.model) as tape:
        subject.model(**batch.inputs)
    edges: dict[tuple[Node, Node], float] = {}
    levels = {"source": 0, "target": 0}
    for name, site in subject.sites.items():
        matrix = FUSE[heads](list(tape.only(name).weights[text].double().numpy()))
        side = "source" if site.kind == "self" else "target"
        for query, row in enumerate(matrix):
            total = row.sum() + residual
            place = (side, levels[side] + 1, query)
            for key, weight in enumerate(row):
                at = levels["source"] if site.kind == "cross" else levels[side]
                below = ("source" if site.kind == "cross" else side, at, key)
                edges[place, below] = edges.get((place, below), 0) + (weight / total if total else 0)
            if residual:
                own = (side, levels[side], query)
                edges[place, own] = edges.get((place, own), 0) + 1 / total
        levels[side] += 1
    return edges, levels["target"]


def walked(edges, start):
    """How much comes down from `start`, a place and its share each, to every node: along every edge in turn."""
    down: dict[Node, list[tuple[Node, float]]] = {}
    found: dict[Node, float] = {}
    waiting = dict(start)
    for (upper, lower), weight in edges.items():
        down.setdefault(upper, []).append((lower, weight))
    while waiting:
        below: dict[Node, float] = {}
        for node, much in waiting.items():
            found[node] = found.get(node, 0) + much
            for lower, weight in down.get(node, ()):
                below[lower] = below.get(lower, 0) + much * weight
        waiting = below
    return found


def places(batch, text, row, answer):
    real = batch.predicted_positions[text].nonzero()[:, 0].tolist()
    return {"prediction": [answer], "first": [0], "last": real[-1:], "mean": real}.get(row) or [real[row]]


@pytest.mark.parametrize("name", TRANSLATORS)
@pytest.mark.parametrize(("heads", "residual"), [("mean", True), ("max", True), ("min", False)])
def test_rollout_walks_down_every_edge(name, heads, residual):
    subject = reader(name)
    batch = subject.encode(EXAMPLES)
    answers = predicted(subject, batch).positions.tolist()
    for row in ("prediction", "mean") if residual else ("prediction",):
        found = explained("rollout", subject, batch, heads=heads, residual=residual, row=row)
        stays = []
        for text in range(3):
            edges, top = edges_of(subject, batch, text, heads, residual)
            begin = places(batch, text, row, answers[text])
            came = walked(edges, {("target", top, place): 1 / len(begin) for place in begin})
            expected = [came.get(("source", 0, token), 0) for token in range(batch.special.shape[1])]
            assert_allclose(found.scores[text], expected, atol=1e-5)
            stays.append(sum(much for (side, level, _), much in came.items() if (side, level) == ("target", 0)))
            if not residual:
                assert stays[-1] == 0  # all goes across at once
        assert found.how.startswith(f"from: {row}, down 2 layers of the decoder and 2 of the encoder, of ")
        assert found.how.endswith(f"{np.mean(stays):.0%} stays with the decoder's own tokens")


@pytest.mark.parametrize("row", ["first", "last", 1, -1])
def test_the_place_that_is_read_can_be_chosen(row):
    subject = reader("bart")
    batch = subject.encode(EXAMPLES[:1])
    edges, top = edges_of(subject, batch, 0, "mean", True)
    (place,) = places(batch, 0, row, 0)
    came = walked(edges, {("target", top, place): 1.0})
    expected = [came.get(("source", 0, token), 0) for token in range(batch.special.shape[1])]
    assert_allclose(explained("rollout", subject, batch, row=row).scores[0], expected, atol=1e-5)


@pytest.mark.parametrize("name", TRANSLATORS)
def test_flow_is_networkxs_through_both(name):
    subject = reader(name)
    batch = subject.encode(EXAMPLES[:2])
    answers = predicted(subject, batch).positions.tolist()
    found, bound = (explained(method, subject, batch) for method in ("flow", "flow_bound"))
    for text in range(2):
        edges, top = edges_of(subject, batch, text, "mean", True)
        graph = networkx.DiGraph()
        for (upper, lower), weight in edges.items():
            graph.add_edge(upper, lower, capacity=float(weight))
        graph.add_edge("read", ("target", top, answers[text]), capacity=1.0)
        for token in batch.mask[text].nonzero()[:, 0].tolist():
            expected = networkx.maximum_flow_value(graph, "read", ("source", 0, token))
            assert found.scores[text, token] == pytest.approx(expected, abs=1e-5)
            real = {("source", 1, place) for place in batch.mask[text].nonzero()[:, 0].tolist()}  # none of padding
            into = sum(edges.get((upper, ("source", 0, token)), 0) for upper in real)
            assert bound.scores[text, token] == pytest.approx(min(1, into), abs=1e-5)
        assert not found.scores[text][~batch.mask[text].numpy()].any()
    assert "of tokens at the bound" in found.how
    assert found.scores.shape == batch.special.shape


def test_a_classifier_that_reads_its_text_twice():
    subject = reader("bart-classifier")
    batch = subject.encode([Example("the movie was not good"), Example("bad")])
    for method in ("rollout", "flow"):
        found = explained(method, subject, batch)
        assert found.how.startswith("from: last, down 2 layers of the decoder")
        assert (found.scores[batch.mask.numpy()] > 0).all()
        assert not found.scores[~batch.mask.numpy()].any()


def test_padding_changes_nothing():
    subject = reader("t5")
    for method in ("rollout", "flow", "flow_bound"):
        together = explained(method, subject, subject.encode(EXAMPLES))
        alone = explained(method, subject, subject.encode(EXAMPLES[1:2]))
        assert_allclose(together.words(1), alone.words(0), atol=1e-5)


@pytest.mark.parametrize("method", ["rollout", "flow"])
def test_a_decoder_that_is_an_rnn_is_refused(method):
    subject = reader("recurrent-dot")
    complaint = f"^{method} follows a decoder's self-attention, .* this model has: cross. See raw_attention"
    with pytest.raises(BadConfig, match=complaint):
        explained(method, subject, subject.encode(EXAMPLES))


def test_sinks_of_all_layers_are_left_out():
    subject = reader("bart")
    batch = subject.encode(EXAMPLES)
    found = explained("rollout", subject, batch, without_sinks=0.2)
    assert "sinks left out (" in found.how
    assert np.abs(found.scores - explained("rollout", subject, batch).scores).max() > 1e-4
