"""Tracing attention down the layers, against the enumeration of all paths and slow loops."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from torch.testing import assert_close

from support.models.pooled_reader import stacked
from support.tokenizing import reader
from support.tracing import EXAMPLES, METHODS, READ_AT, scores
from whence.attribution.registry import explainer
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.data.examples import Example
from whence.explainers.lat import accumulated, traced
from whence.subject.targets import Target, predicted

FAMILIES = [
    "transformer-post-learned",
    "bert",
    "distilbert",
    "roberta",
    "albert",
    "deberta-v2",
    "modernbert",
    "xlnet",
    "gpt2",
    "llama",
    "mistral",
    "xlm-roberta",
    "additive-lstm-additive",
    "additive-additive-pairs",
    "pooled-post-sinusoidal-cross_entropy",
    "pooled-query-none-binary",
]


def recorded(subject, batch):
    """The weights of every layer and of the local attention: [depth batch head query key], [batch token]."""
    with torch.no_grad(), attending(subject.model) as tape:
        subject.model(**batch.inputs)
    layers = [call.weights for name, (call,) in tape.items() if name != "local"]
    return torch.stack(layers), (tape.only("local").weights[:, 0, 0] if "local" in tape else None)


def all_paths(weights, start):
    """For each head and token the sum over all paths that end there of the product of the weights on the path.

    `weights` [depth head query key] and `start` [token] of one text; a path is a token for each layer and one more.
    """
    depth, heads, tokens = weights.shape[:3]
    found = np.zeros((heads, tokens))
    for head, path in product(range(heads), product(range(tokens), repeat=depth + 1)):  # the topmost token first
        steps = [float(weights[depth - 1 - k, head, path[k], path[k + 1]]) for k in range(depth)]
        found[head, path[-1]] += float(start[path[0]]) * np.prod(steps)
    return found


@settings(max_examples=15)
@given(depth=st.integers(1, 3), heads=st.integers(1, 3), words=st.integers(0, 2), seed=st.integers(0, 99))
def test_it_is_the_sum_over_all_paths(depth, heads, words, seed):
    subject = stacked(depth, heads, seed)
    batch = subject.encode([Example(" ".join(["good", "bad"][:words]) or "!")])
    weights, local = recorded(subject, batch)
    expected = all_paths(weights[:, 0], local[0])
    assert_allclose(scores("lat", subject, batch, normalize="none")[0], expected.sum(0), atol=1e-6)
    assert_allclose(traced(subject, batch).heads[0], expected, atol=1e-6)
    assert expected.sum() == pytest.approx(heads)


@given(depth=st.integers(0, 4), heads=st.integers(1, 4), tokens=st.integers(1, 4), seed=st.integers(0, 999))
def test_every_layer_of_a_trace_is_the_sum_over_all_paths_down_to_it(depth, heads, tokens, seed):
    generator = torch.Generator().manual_seed(seed)
    weights = torch.rand(depth, 1, heads, tokens, tokens, generator=generator, dtype=torch.float64)
    weights = weights / weights.sum(-1, keepdim=True)
    start = torch.rand(1, tokens, generator=generator, dtype=torch.float64)
    found = accumulated(start, weights)
    assert found.shape == (depth, 1, heads, tokens)
    for layer in range(max(0, depth - 2), depth):
        assert_allclose(found[layer, 0], all_paths(weights[layer:, 0], start[0]), atol=1e-12)


@pytest.mark.parametrize("name", FAMILIES)
def test_families_conserve_attention_and_leave_padding_alone(name):
    subject = reader(name)
    pair = "a film ?" if getattr(subject.model.config, "pairs", False) else None
    examples = [Example(e.text, pair=pair) for e in EXAMPLES]
    batch, alone = subject.encode(examples), subject.encode(examples[1:2])
    own = batch.mask[1].numpy()
    trace = traced(subject, batch, target=predicted(subject, batch))
    raw = scores("lat", subject, batch, normalize="none")
    assert_allclose(raw.sum(1), trace.heads.shape[1], rtol=1e-5)  # each head starts with all of it
    assert_allclose(trace.accumulated.sum(-1), 1.0, rtol=1e-5)
    assert_allclose(trace.raw, raw, atol=1e-6)  # the streaming form is the trace
    for method, options in [*product(["lat", "lat_mixed"], [{}, {"normalize": "l1"}]), ("rollout", {})]:
        found = scores(method, subject, batch, **options)
        assert_allclose(found.sum(1), 1.0, rtol=1e-5)
        assert not found[~batch.mask.numpy()].any()
        assert_allclose(found[1, own], scores(method, subject, alone, **options)[0], atol=2e-6)


def test_a_slow_loop_over_mixed_heads_and_over_rollout():
    subject = stacked()
    batch = subject.encode(EXAMPLES)
    weights, local = recorded(subject, batch)
    mixed = local[:, None].repeat(1, 4, 1)  # [batch head token]
    for layer in reversed(weights):
        from_above = sum(mixed[:, head] for head in range(4)) / 4
        mixed = torch.stack([torch.einsum("bq,bqk->bk", from_above, layer[:, head]) for head in range(4)], 1)
    assert_allclose(scores("lat_mixed", subject, batch, normalize="none"), mixed.sum(1), atol=1e-6)
    assert_allclose(mixed.sum((1, 2)), 4.0)
    for residual in (True, False):
        rolled = local
        for layer in reversed(weights):
            step = layer.mean(1) + (torch.eye(layer.shape[-1]) if residual else 0)
            rolled = torch.einsum("bq,bqk->bk", rolled, step / step.sum(-1, keepdim=True))
        assert_allclose(scores("rollout", subject, batch, residual=residual), rolled, atol=1e-6)
    assert_allclose(scores("rollout", subject, batch, residual=False) * 4, mixed.sum(1), atol=1e-6)


def test_of_one_layer_mixing_heads_changes_nothing():
    subject = stacked(depth=1)
    batch = subject.encode(EXAMPLES)
    assert_allclose(scores("lat_mixed", subject, batch), scores("lat", subject, batch), atol=1e-6)


def test_normalizations_by_hand():
    subject = stacked(heads=2)
    batch = subject.encode(EXAMPLES)
    raw = scores("lat", subject, batch, normalize="none").astype(float)
    for row, real in enumerate(~batch.special.numpy()):  # this model does not attend to the ends of a text
        own = raw[row, real]
        for normalize, expected in [
            ("softmax_sum", np.exp(own) / np.exp(own).sum()),
            ("softmax_mean", np.exp(own / 2) / np.exp(own / 2).sum()),
            ("l1", own / 2),
        ]:
            found = scores("lat", subject, batch, normalize=normalize)[row]
            assert_allclose(found[real], expected, atol=1e-6)
            assert not found[~real].any()
    assert explainer("lat")(subject, batch, predicted(subject, batch)).how == (
        "from: local attention (local), down 3 layers of 2 heads, normalize: softmax_sum"
    )


def test_every_window_of_a_narrative_is_traced_by_itself():
    subject = reader("pooled-series")
    windows = ("the movie was good", "bad", "not a good film")
    batch = subject.encode([Example(" ".join(windows), windows=windows), Example("bad", windows=("bad",))])
    for method in METHODS:
        found = explainer(method)(subject, batch, predicted(subject, batch))
        alone = [
            explainer(method)(subject, one, predicted(subject, one)).words(0)
            for one in (subject.encode([Example(text)]) for text in windows)
        ]
        assert_allclose(found.words(0), np.concatenate(alone), atol=1e-6)
        assert_allclose(found.words(0).sum(), 3.0, rtol=1e-5)  # one for each window
    assert traced(subject, batch).heads.shape[0] == 6  # two narratives of three windows; two of them padding


# where a model has no local attention


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_rows_against_a_slow_loop(name):
    subject = reader(name)
    batch = subject.encode(EXAMPLES)
    weights, _ = recorded(subject, batch)
    target = Target(torch.tensor([0, 1, 0]), torch.tensor([2, 1, 2]), "logit")
    for number, real in enumerate(batch.mask):
        places = real.nonzero().flatten().tolist()
        rows = {
            "first": places[:1],
            "last": places[-1:],
            "mean": places,
            "prediction": [int(target.positions[number])],
            1: places[1:2],
            -2: places[-2:-1],
        }
        for row, queries in rows.items():
            found = explainer("lat")(subject, batch, target, row=row, normalize="none")
            v = sum(weights[1, number, :, query] for query in queries) / len(queries)  # [head key]
            expected = sum(v[head] @ weights[0, number, head] for head in range(4))
            assert_allclose(found.scores[number], expected, atol=1e-6)
            assert found.how.startswith(f"from: {f'token {row}' if isinstance(row, int) else row}, down 2 layers of 4")


@pytest.mark.parametrize(("name", "row"), [*READ_AT, ("transformer-post-learned", "mean")])
def test_left_to_itself_it_starts_where_the_answer_is_read(name, row):
    subject = reader(name)
    batch = subject.encode(EXAMPLES)
    target = predicted(subject, batch)
    for method in METHODS:
        found = explainer(method)(subject, batch, target)
        assert found.how.startswith(f"from: {row}, ")
        assert_allclose(found.scores, explainer(method)(subject, batch, target, row=row).scores)
    assert_close(traced(subject, batch).start, traced(subject, batch, target=target).start)


def test_what_a_decoder_has_not_read_yet_gets_nothing():
    subject = reader("llama")
    batch = subject.encode(EXAMPLES)
    target = Target(torch.tensor([5, 6, 7]), torch.tensor([2, 1, 1]), "logit")
    for normalize in ("softmax_sum", "l1"):
        found = explainer("lat")(subject, batch, target, normalize=normalize).scores
        assert not found[0, 3:].any()
        assert_allclose(found.sum(1), 1.0, rtol=1e-5)


# what cannot be done


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("bart", "this model has an encoder and a decoder; see rollout and flow"),
        ("bart-classifier", "this model has an encoder and a decoder"),
        ("recurrent-dot", "this model has an encoder and a decoder"),
        ("hierarchical", "attended at word_attention, sentence_attention are parts of the text"),
        ("gpt-oss", r"model\.layers\.0\.self_attn gives part of its weight to a sink, which is no token"),
        ("funnel", "attends from one sequence to another"),
        ("qwen3-next", "1 of this model's 2 layers mix tokens without attention weights"),
    ],
)
def test_models_that_have_no_stack(name, why):
    subject = reader(name)
    batch = subject.encode([Example("a good film", target="good")])
    target = predicted(subject, batch)
    for method in METHODS if not subject.model.config.is_encoder_decoder else METHODS[:2]:
        with pytest.raises(BadConfig, match=f"^{method} follows one stack of self-attention .*: .*{why}"):
            explainer(method)(subject, batch, target)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"normalize": "softmax"}, "no normalize 'softmax'; choose from: softmax_sum, softmax_mean, l1, none"),
        ({"row": "middle"}, "no row 'middle'; choose from: auto, first, last, mean, prediction, or a token's number"),
        ({"row": 3}, "no token 3 in a text of 3 tokens; they are counted from 0"),
        ({"row": -4}, "no token -4 in a text of 3 tokens"),
    ],
)
def test_choices_that_do_not_exist(options, complaint):
    subject = reader("bert")
    batch = subject.encode(EXAMPLES)
    with pytest.raises(BadConfig, match=complaint):
        explainer("lat")(subject, batch, predicted(subject, batch), **options)


def test_a_local_attention_is_where_it_starts():
    subject = stacked()
    batch = subject.encode(EXAMPLES)
    with pytest.raises(BadConfig, match=r"it starts from the local attention local; leave row at auto"):
        explainer("lat")(subject, batch, predicted(subject, batch), row="mean")
