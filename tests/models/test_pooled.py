"""The model of Wu et al. 2020, beside the same written out in loops over tokens and heads."""

import math

import numpy as np
import pytest
import torch
from huggingface_hub.errors import StrictDataclassFieldValidationError
from torch import nn, tensor
from torch.testing import assert_close
from transformers import AutoModelForSequenceClassification

from support.models.pooled_reader import TINY_POOLED, with_large_weights
from whence import attending, sites
from whence.models import PooledConfig, PooledForSequenceClassification
from whence.models.pooled import LocalAttention

TINY = {**TINY_POOLED, "num_labels": 5}


def made(**options):
    config = PooledConfig(**{**TINY, **options})
    return with_large_weights(lambda: PooledForSequenceClassification(config))


# written out: x is a list of vectors, one for each word


def linear(module, vector):
    weight = module.weight.detach().double().numpy()
    bias = 0.0 if module.bias is None else module.bias.detach().double().numpy()
    return np.array([sum(w * v for w, v in zip(row, vector, strict=True)) for row in weight]) + bias


def normed(module, vector):
    mean = sum(vector) / len(vector)
    spread = math.sqrt(sum((v - mean) ** 2 for v in vector) / len(vector) + 1e-6)
    return module.weight.detach().double().numpy() * (vector - mean) / spread + module.bias.detach().double().numpy()


def softmaxed(scores):
    return np.array([math.exp(score) for score in scores]) / sum(math.exp(score) for score in scores)


def mlp(module, vector):
    for linear_map in [part for part in module if isinstance(part, nn.Linear)][:-1]:
        vector = np.maximum(linear(linear_map, vector), 0)
    return linear(module[-1], vector)


def attended(attention, queries, source, heads, size):
    """Eq. 1-3 and the output matrix, one head and one query after another."""
    q, k, v = (
        [linear(m, x) for x in xs]
        for m, xs in [(attention.queries, queries), (attention.keys, source), (attention.values, source)]
    )
    results = []
    for query in q:
        context = []
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            weights = softmaxed([query[part] @ key[part] / math.sqrt(size) for key in k])
            context.append(sum(weight * value[part] for weight, value in zip(weights, v, strict=True)))
        results.append(linear(attention.output, np.concatenate(context)))
    return results


def layered(layer, x, norm, heads=3, size=4):
    first, second = layer.around_attention.norm, layer.around_feed_forward.norm
    if norm == "post":
        x = [normed(first, a + b) for a, b in zip(x, attended(layer.attention, x, x, heads, size), strict=True)]
        return [normed(second, a + mlp(layer.feed_forward, a)) for a in x]
    queries = [normed(first, a) for a in x]
    source = queries if norm == "pre" else x
    x = [a + b for a, b in zip(x, attended(layer.attention, queries, source, heads, size), strict=True)]
    return [a + mlp(layer.feed_forward, normed(second, a)) for a in x]


def by_loops(model, ids):
    """The decoder's answers for one text of words."""
    config = model.config
    x = [model.embeddings.weight[number].detach().double().numpy() for number in ids]
    if config.embedding_size != config.hidden_size:
        x = [linear(model.project, a) for a in x]
    if config.positions == "sinusoidal":
        width = config.hidden_size
        x = [
            width**0.5 * a
            + [(math.sin, math.cos)[i % 2](place / 10_000 ** (2 * (i // 2) / width)) for i in range(width)]
            for place, a in enumerate(x)
        ]
    for layer in model.layers:
        x = layered(layer, x, config.norm)
    if config.norm != "post":
        x = [normed(model.norm, a) for a in x]
    weights = softmaxed([mlp(model.local.score, a)[0] for a in x])  # (5)
    return mlp(model.decoder, sum(weight * a for weight, a in zip(weights, x, strict=True))), weights  # (6)


@pytest.mark.parametrize("positions", ["none", "sinusoidal"])
@pytest.mark.parametrize("norm", ["post", "pre", "query"])
@pytest.mark.parametrize("vectors", [5, 6])
def test_the_model_is_what_the_loops_say(norm, positions, vectors):
    model = made(norm=norm, positions=positions, embedding_size=vectors).double()
    ids = [7, 8, 7, 9]
    answers, weights = by_loops(model, ids)
    with attending(model, watch="local") as tape, torch.no_grad():
        logits = model(tensor([ids])).logits
    assert_close(logits[0], tensor(answers))
    assert_close(tape.only("local").weights, tensor(weights).reshape(1, 1, 1, 4))


def test_one_layer_on_two_tokens_by_hand():
    """One head of width one; queries x₁, keys and values x₂, all un-normalised but the queries, no feed-forward."""
    model = made(norm="query", hidden_size=2, embedding_size=2, num_attention_heads=1, head_size=1, intermediate_size=1)
    layer = model.layers[0].double()
    attention = layer.attention
    for module, weight in [
        (attention.queries, [[1.0, 0.0]]),
        (attention.keys, [[0.0, 1.0]]),
        (attention.values, [[0.0, 1.0]]),
        (attention.output, [[1.0], [0.0]]),
    ]:
        module.weight.data.copy_(tensor(weight))
    layer.around_attention.norm.weight.data.fill_(1.0)
    layer.around_attention.norm.bias.data.zero_()
    for parameter in layer.feed_forward.parameters():
        parameter.data.zero_()
    x = tensor([[[3.0, 1.0], [0.0, 2.0]]], dtype=torch.float64)  # normalised: (1, -1) and (-1, 1)
    got = layer(x, torch.ones(1, 1, 1, 2, dtype=torch.bool))
    first = (math.exp(1) * 1 + math.exp(2) * 2) / (math.exp(1) + math.exp(2))  # query 1, keys 1 and 2
    second = (math.exp(-1) * 1 + math.exp(-2) * 2) / (math.exp(-1) + math.exp(-2))  # query -1
    assert_close(got, tensor([[[3.0 + first, 1.0], [second, 2.0]]], dtype=torch.float64), atol=1e-5, rtol=0)


def test_local_attention_by_hand():
    """Scores ln 1 and ln 3 make weights 1/4 and 3/4; a third token is padding."""
    local = LocalAttention(2, dropout=0.3, terminal=True)
    score = nn.Linear(2, 1, bias=False)
    score.weight.data = tensor([[1.0, 0.0]])
    local.score = nn.Sequential(score)
    hidden = tensor([[[0.0, 4.0], [math.log(3), 8.0], [9.0, 9.0]]])
    context = local(hidden, tensor([[True, True, False]]))
    assert_close(context, tensor([[0.75 * math.log(3), 7.0]]))
    assert not local(hidden, tensor([[False] * 3])).any()  # nothing to read


def test_its_sizes_are_the_papers():
    model = PooledForSequenceClassification(PooledConfig(vocab_size=10, id2label=dict(enumerate("abcde"))))
    shapes = {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}
    assert shapes["layers.5.attention.queries.weight"] == (512, 300)  # 8 heads of 64
    assert shapes["layers.5.attention.output.weight"] == (300, 512)
    assert shapes["layers.5.feed_forward.0.weight"] == (64, 300)
    assert [shapes[f"local.score.{n}.weight"] for n in (0, 3, 6)] == [(128, 300), (64, 128), (1, 64)]
    assert [shapes[f"decoder.{n}.weight"] for n in (0, 3)] == [(64, 300), (5, 64)]
    assert not [name for name in shapes if "attention" in name and name.endswith("s.bias")]
    assert model.config.dropout == model.dropout.p == 0.1
    assert [part.p for part in model.local.score if isinstance(part, nn.Dropout)] == [0.3, 0.3]
    assert [(site.name, site.kind) for site in sites(model).values()] == [
        *((f"layers.{i}.attention", "self") for i in range(6)),
        ("local", "pool"),
    ]


def test_without_positions_the_order_of_words_is_not_seen():
    ids = tensor([[5, 6, 7, 8]])
    for positions, same in [("none", True), ("sinusoidal", False)]:
        model = made(positions=positions)
        with torch.no_grad():
            assert torch.allclose(model(ids).logits, model(ids.flip(1)).logits, atol=1e-5) is same


@pytest.mark.parametrize("norm", ["post", "pre", "query"])
def test_padding_and_the_marks_around_a_text_change_nothing(norm):
    model = made(norm=norm)
    bare = model(tensor([[5, 6, 7]])).logits
    framed = tensor([[1, 5, 6, 7, 2, 0, 0]])
    assert_close(model(framed).logits, bare, atol=1e-5, rtol=1e-5)
    assert_close(model(framed, attention_mask=(framed != 0).long()).logits, bare, atol=1e-5, rtol=1e-5)
    seen = made(norm=norm, attend_specials=True)(framed).logits
    assert not torch.allclose(seen, bare, atol=1e-3)


@pytest.mark.parametrize("norm", ["post", "pre", "query"])
@pytest.mark.parametrize("loss", ["cross_entropy", "binary"])
def test_a_text_without_words_is_no_nan_and_neither_is_its_gradient(norm, loss):
    model = made(norm=norm, loss=loss)
    output = model(tensor([[5, 6], [1, 2], [0, 0]]), labels=tensor([0, 1, 2]))
    assert torch.isfinite(output.logits).all()
    output.loss.backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


def test_yes_and_no_for_each_class():
    """log σ(z) as logits: their softmax is σ(z) / Σ σ(z), and the loss is summed over classes and texts."""
    model = made(loss="binary")
    same = PooledForSequenceClassification(PooledConfig(**TINY)).eval()
    same.load_state_dict(model.state_dict())
    ids, labels = tensor([[5, 6, 7], [8, 9, 4]]), tensor([1, 3])
    z, output = same(ids).logits.double(), model(ids, labels=labels)
    sigmoids = 1 / (1 + torch.exp(-z))
    assert_close(output.logits.exp().double(), sigmoids, atol=1e-6, rtol=1e-5)
    probs = sigmoids / sigmoids.sum(-1, keepdim=True)
    assert_close(output.logits.softmax(-1).double(), probs, atol=1e-6, rtol=1e-5)
    assert (output.logits.argmax(-1) == z.argmax(-1)).all()
    by_hand = sum(
        -math.log(s if label == number else 1 - s)
        for row, label in zip(sigmoids.tolist(), labels.tolist(), strict=True)
        for number, s in enumerate(row)
    )
    assert float(output.loss.detach()) == pytest.approx(by_hand, rel=1e-5)
    certain = PooledForSequenceClassification(PooledConfig(**TINY, loss="binary"))
    certain.decoder[-1].bias.data.fill_(200.0)
    certain.decoder[-1].weight.data.zero_()
    assert torch.isfinite(certain(ids, labels=labels).loss)
    entropy = same(ids, labels=labels).loss
    assert_close(entropy.double(), -z.log_softmax(-1)[[0, 1], labels].mean(), atol=1e-5, rtol=1e-5)


def test_frozen_vectors_do_not_learn():
    for frozen in (True, False):
        model = made(frozen_vectors=frozen)
        model(tensor([[5, 6, 7]]), labels=tensor([1])).loss.backward()
        assert (model.embeddings.weight.grad is None) is frozen
        assert model.project.weight.grad.abs().sum() > 0


def test_saved_and_loaded_it_answers_alike(tmp_path):
    model = made(norm="query", loss="binary", frozen_vectors=True)
    model.save_pretrained(tmp_path)
    again = AutoModelForSequenceClassification.from_pretrained(tmp_path)
    assert isinstance(again, PooledForSequenceClassification)
    ids = tensor([[5, 6, 7]])
    assert_close(again(ids).logits, model(ids).logits)


def test_a_wrong_value_gets_a_sentence():
    with pytest.raises(StrictDataclassFieldValidationError, match="norm"):
        PooledConfig(norm="before")
