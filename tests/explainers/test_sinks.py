"""Sinks: planted ones, a slow loop over the heads of models, and explainers that leave them out."""

import re

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from support.tokenizing import reader
from whence.attribution import sinks
from whence.attribution.contributions import Layer, taken_apart
from whence.attribution.registry import explainer
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.core.site import Call, Site
from whence.data.examples import Example
from whence.subject.targets import predicted

EXAMPLES = [Example("the movie was not good"), Example("unbelievable movies !"), Example("bad")]
LOW = 0.2  # an ε at which small models with random weights have sinks too
WEIGHTED = [
    "raw_attention",
    "lat",
    "lat_mixed",
    "rollout",
    "flow",
    "flow_bound",
    "attention_gradient",
    "effective_attention",
]


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
    weight = np.array([0.7, 0.5 / 3, 0.4 / 3])
    assert_allclose(found.weight[0], [weight] * 2, rtol=1e-6)
    assert_allclose(found.given[0, 0], weight * [0.01, 1, 2] / (3.01 / 3), rtol=1e-6)
    assert_allclose(found.given[0, 1], weight * [5, 1, 1] / (7 / 3), rtol=1e-6)
    assert found.where()[0].tolist() == [[True, False, False], [False, False, False]]
    assert not found.where(0.75).any()


def test_what_nobody_may_see_is_no_part_of_the_mean():
    layer = planted()
    mask = torch.tensor([True, True, False]).expand(1, 1, 3, 3)
    weights = layer.call.weights * mask
    seen = Layer(Call(Site("a", 0, "self"), weights, mask, None, None, 0, (0, 1), 2), layer.mapped)
    found = sinks.drawn_and_given([seen])
    assert_allclose(found.given[0, 0, :2], np.array([0.7, 0.5 / 3]) * [0.01, 1] / (1.01 / 2), rtol=1e-6)


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
    found = sinks.found(subject, batch)
    layers: dict[str, Layer] = {}
    taken_apart(subject, batch, list(found), False, lambda one: layers.setdefault(one.call.site.name, one))
    for site, one in found.items():
        weights, mapped = layers[site].weights, layers[site].mapped
        mask = layers[site].call.mask.expand(layers[site].call.weights.shape)
        real = batch.predicted_positions if name == "bart" else batch.mask
        for text, head in ((0, 0), (1, 3), (2, 2)):
            drawn, given, lengths = np.zeros(weights.shape[-1]), np.zeros(weights.shape[-1]), []
            for key in range(weights.shape[-1]):
                asking = [q for q in range(weights.shape[2]) if mask[text, head, q, key] and real[text, q]]
                if asking:
                    lengths.append(float(mapped[text, head, key].norm()))
                    drawn[key] = np.mean([float(weights[text, head, q, key]) for q in asking])
                    given[key] = np.mean(
                        [float((weights[text, head, q, key] * mapped[text, head, key]).norm()) for q in asking]
                    )
            assert_allclose(one.weight[text, head], drawn, atol=1e-6)
            assert_allclose(one.given[text, head], given / np.mean(lengths), atol=1e-6)


def test_scores_are_shares_of_heads():
    subject = reader("bert")
    batch = subject.encode(EXAMPLES)
    found = explained("sinks", subject, batch, least=LOW)
    where = torch.cat([layer.where(LOW) for layer in sinks.found(subject, batch).values()], 1)
    assert where.shape[1] == 8
    assert where.any()
    assert_allclose(found.scores, where.double().mean(1), atol=1e-6)
    assert f"{where.any(2).double().mean():.0%} of 8 heads have a sink: mean weight above 0.2" in found.how


def test_of_one_text_it_is_told_which_tokens_are_sinks_of_which_heads():
    subject = reader("bert")
    batch = subject.encode(EXAMPLES[:1])
    how = explained("sinks", subject, batch, least=LOW).how
    for layer, one in enumerate(sinks.found(subject, batch).values()):
        for token, name in enumerate(batch.tokens[0]):
            heads = [str(head) for head in range(4) if one.where(LOW)[0, head, token]]
            said = re.search(rf"'{re.escape(name)}' in [^;]*layer {layer} \(([^)]*)\)", how)
            assert ("all heads" if len(heads) == 4 else " ".join(heads)) == (
                said[1].removeprefix("heads ").removeprefix("head ") if said else ""
            )
    assert "layer" in how
    assert "layer" not in explained("sinks", subject, subject.encode(EXAMPLES), least=LOW).how  # of many: too much


@pytest.mark.parametrize("method", WEIGHTED)
def test_explainers_leave_them_out_and_say_so(method):
    subject = reader("bert")
    batch = subject.encode(EXAMPLES)
    plain = explained(method, subject, batch)
    found = explained(method, subject, batch, without_sinks=LOW)
    assert "sinks left out (" in found.how
    assert np.abs(found.scores - plain.scores).max() > 1e-4
    assert "sinks" not in plain.how
    assert "sinks left out (" in explained(method, subject, batch, without_sinks=True).how


def test_what_raw_attention_and_rollout_make_of_what_is_left():
    subject = reader("bert")
    batch = subject.encode(EXAMPLES)
    where = {name: layer.where(LOW) for name, layer in sinks.found(subject, batch).items()}
    with torch.no_grad(), attending(subject.model) as tape:
        subject.model(**batch.inputs)
    left = [sinks.without(tape.only(name), where).double() for name in subject.sites]  # [batch head query key]
    raw = explained("raw_attention", subject, batch, without_sinks=LOW)
    assert_allclose(raw.scores, left[-1][:, :, 0].mean(1), atol=1e-6)
    last = where[list(subject.sites)[-1]].any(2).double().mean()
    assert f"sinks left out ({last:.0%} of heads have one)" in raw.how
    rolled = torch.eye(batch.special.shape[1], dtype=torch.float64)[None, 0]  # from the first token
    for weights in reversed(left):
        layer = weights.mean(1) + torch.eye(weights.shape[-1])
        rolled = torch.einsum("bq,bqk->bk", rolled.expand(3, -1), layer / layer.sum(-1, keepdim=True))
    assert_allclose(explained("rollout", subject, batch, without_sinks=LOW).scores, rolled, atol=1e-6)


@pytest.mark.parametrize("limit", [1.5, 0.0, -1.0])
def test_a_limit_that_is_no_share(limit):
    subject = reader("bert")
    batch = subject.encode(EXAMPLES)
    with pytest.raises(BadConfig, match="a sink draws a mean weight above a number between 0 and 1; got"):
        explained("sinks", subject, batch, least=limit)
    with pytest.raises(BadConfig, match="above a number between 0 and 1"):
        explained("rollout", subject, batch, without_sinks=limit)


@pytest.mark.parametrize("name", ["bert", "gpt2", "bart", "recurrent-additive"])
def test_queries_of_padding_do_not_count(name):
    """A text has the same sinks alone and beside longer ones, and longer targets."""
    subject = reader(name)
    examples = [Example(e.text, target=t) for e, t in zip(EXAMPLES, ("the good film !", "a", "bad film"), strict=True)]
    together, alone = (sinks.found(subject, subject.encode(some)) for some in (examples, examples[2:]))
    for site, one in alone.items():
        n_key = one.weight.shape[-1]
        assert_allclose(together[site].weight[2, :, :n_key], one.weight[0], atol=1e-5)
        assert_allclose(together[site].given[2, :, :n_key], one.given[0], atol=1e-5)
