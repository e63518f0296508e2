"""DiSAN compared with the same written out in loops over tokens and features."""

import math

import numpy as np
import pytest
import torch
from torch import tensor
from torch.testing import assert_close

from support.models.disan import FIRST, batch, made
from whence import attending, sites, uniform
from whence.models import DisanForTokenClassification
from whence.models.parts.disan_layers import FusionGate

# written out: a text is a list of vectors, one for each word


def linear(module, vector):
    weight = module.weight.detach().double().numpy()
    bias = 0.0 if module.bias is None else module.bias.detach().double().numpy()
    return np.array([sum(w * v for w, v in zip(row, vector, strict=True)) for row in weight]) + bias


def elu(vector):
    return np.array([v if v > 0 else math.exp(v) - 1 for v in vector])


def softmaxed(scores):
    return [math.exp(score) / sum(math.exp(other) for other in scores) for score in scores]


def attended(part, x, future):
    """What each word becomes, and its weights [feature query key], one feature and one query after another."""
    h = [elu(linear(part.project, vector)) for vector in x]
    of_keys, of_queries = [linear(part.score_keys, v) for v in h], [linear(part.score_queries, v) for v in h]
    weights = np.zeros((len(h[0]), len(h), len(h)))
    context = [np.zeros(len(h[0])) for _ in h]
    for i in range(len(h)):
        seen = range(i + 1, len(h)) if future else range(i)
        for feature in range(len(h[0])) if seen else ():
            scores = [5 * math.tanh((of_keys[j][feature] + of_queries[i][feature]) / 5) for j in seen]
            for j, weight in zip(seen, softmaxed(scores), strict=True):
                weights[feature, i, j] = weight
                context[i][feature] += weight * h[j][feature]
    return [fused(part.fuse, *both) for both in zip(h, context, strict=True)], weights


def fused(fuse, hidden, context):
    sums = linear(fuse.of_hidden, hidden) + linear(fuse.of_context, context)
    gates = [1 / (1 + math.exp(-value)) for value in sums]
    return np.array([f * h + (1 - f) * c for f, h, c in zip(gates, hidden, context, strict=True)])


def sentence(encoder, x):
    both = [
        np.concatenate(u)
        for u in zip(attended(encoder.sees_past, x, False)[0], attended(encoder.sees_future, x, True)[0], strict=True)
    ]
    part = encoder.source2token
    scores = [linear(part.score, elu(linear(part.inner, u))) for u in both]
    weights = np.array([softmaxed([score[feature] for score in scores]) for feature in range(len(both[0]))])
    return np.array([sum(weights[f, j] * both[j][f] for j in range(len(both))) for f in range(len(both[0]))]), weights


def vectors(model, ids):
    return [model.embeddings.weight[number].detach().double().numpy() for number in ids]


def by_loops(model, *texts):
    read = [sentence(model.encoder, vectors(model, text))[0] for text in texts]
    if len(read) == 2:
        read += [read[0] - read[1], read[0] * read[1]]
    return linear(model.classify, elu(linear(model.combine, np.concatenate(read))))


@pytest.mark.parametrize("looked_at", [True, False])
@pytest.mark.parametrize("pairs", [True, False])
def test_the_model_is_what_the_loops_say(pairs, looked_at):
    model, (inputs, texts) = made(pairs=pairs).double(), batch(pairs)
    expected = tensor(np.array([by_loops(model, *(both if pairs else both[:1])) for both in texts]))
    with torch.no_grad(), attending(model, watch="*" if looked_at else None):
        assert_close(model(**inputs).logits, expected)


@pytest.mark.parametrize("looked_at", [True, False])
def test_a_tag_is_what_the_loops_say(looked_at):
    model = made(DisanForTokenClassification).double()
    x = vectors(model, FIRST)
    past, future = (
        attended(part, x, after)[0]
        for part, after in [(model.encoder.sees_past, False), (model.encoder.sees_future, True)]
    )
    words = [np.concatenate(both) for both in zip(past, future, strict=True)]
    expected = np.array([linear(model.classify, elu(linear(model.combine, word))) for word in words])
    with torch.no_grad(), attending(model, watch="*" if looked_at else None):
        logits = model(tensor([[1, *FIRST, 2, 0]])).logits
    assert logits.shape == (1, 7, 3)
    assert_close(logits[0, 1:5], tensor(expected))
    with pytest.raises(ValueError, match="single texts"):
        made(DisanForTokenClassification, pairs=True)


def test_every_weight_is_what_the_loops_say_and_all_else_is_zero():
    """Padding, marks around a text, the other text and the token itself get nothing and attend to nothing."""
    model, (inputs, texts) = made(pairs=True).double(), batch()
    with torch.no_grad(), attending(model) as tape:
        model(**inputs)
    for name, future in [("sees_past", False), ("sees_future", True)]:
        expected = torch.zeros(3, 4, 10, 10, dtype=torch.float64)
        for row, (one, two) in enumerate(texts):
            for text, start in [(one, 1), (two, len(one) + 2)]:
                weights = attended(getattr(model.encoder, name), vectors(model, text), future)[1]
                place = slice(start, start + len(text))
                expected[row, :, place, place] = tensor(weights)
        assert_close(tape.only(f"encoder.{name}").weights, expected)
        call = tape.only(f"encoder.{name}")
        assert bool((expected.bool() == call.mask.expand_as(expected)).all())
        assert not call.weights[0, :, 4 if future else 1].any()  # the last word sees no future, the first no past
    expected = torch.zeros(3, 16, 1, 10, dtype=torch.float64)
    for row, (one, two) in enumerate(texts):
        for text, start, features in [(one, 1, slice(0, 8)), (two, len(one) + 2, slice(8, 16))]:
            expected[row, features, 0, start : start + len(text)] = tensor(
                sentence(model.encoder, vectors(model, text))[1]
            )
    assert_close(tape.only("encoder.source2token").weights, expected)


def test_three_words_by_hand():
    """One feature, keys alone are scored, by 5 tanh(h / 5): the third word mixes the first two by what they are."""
    model = made(embedding_size=1, hidden_size=1).double()
    part = model.encoder.sees_past
    for module, weight in [(part.project, 1.0), (part.score_keys, 1.0), (part.score_queries, 0.0)]:
        module.weight.data.fill_(weight)
    for module in (part.project, part.score_queries):
        module.bias.data.zero_()
    model.embeddings.weight.data[3:6] = tensor([[1.0], [2.0], [3.0]])
    with attending(model) as tape:
        model(tensor([[3, 4, 5]]))
    first, second = math.exp(5 * math.tanh(0.2)), math.exp(5 * math.tanh(0.4))
    expected = [[0, 0, 0], [1, 0, 0], [first / (first + second), second / (first + second), 0]]
    assert_close(tape.only("encoder.sees_past").weights[0, 0], tensor(expected, dtype=torch.float64))


def test_the_gate_by_hand():
    """σ(ln 3) = 3/4 of what the word was, 1/4 of its context; σ(0) half of each."""
    gate = FusionGate(2, dropout=0.0)
    gate.of_hidden.weight.data = tensor([[math.log(3), 0.0], [0.0, 1.0]])
    gate.of_context.weight.data = tensor([[0.0, 0.0], [0.0, -0.5]])
    gate.of_hidden.bias.data.zero_()
    assert_close(gate(tensor([[1.0, 2.0]]), tensor([[5.0, 4.0]])), tensor([[2.0, 3.0]]))


def test_texts_of_a_pair_do_not_see_one_another():
    model = made(pairs=True)
    inputs, _ = batch()
    other = {**inputs, "input_ids": inputs["input_ids"].clone()}
    other["input_ids"][0, 6:9] = tensor([20, 21, 22])  # the second text
    with torch.no_grad(), attending(model) as one:
        model(**inputs)
    with torch.no_grad(), attending(model) as two:
        model(**other)
    for name in sites(model):
        assert_close(one.only(name).weights[0, :8, :6, :5], two.only(name).weights[0, :8, :6, :5], atol=0.0, rtol=0.0)
    with pytest.raises(ValueError, match="reads pairs"):
        model(inputs["input_ids"])


def test_equal_weights_make_the_mean_of_the_words_seen():
    model = made().double()
    with torch.no_grad(), attending(model, override=uniform) as tape:
        model(tensor([[1, 5, 6, 7, 2]]))
    assert_close(tape.only("encoder.sees_past").weights[0, 0, 3], tensor([0, 0.5, 0.5, 0, 0], dtype=torch.float64))
    assert_close(tape.only("encoder.source2token").weights[0, 0, 0], tensor([0, 1, 1, 1, 0], dtype=torch.float64) / 3)


@pytest.mark.parametrize("looked_at", [True, False])
def test_a_text_without_words_is_no_nan_and_neither_is_its_gradient(looked_at):
    model = made()
    with attending(model, watch="*" if looked_at else None):
        output = model(tensor([[5, 6], [1, 2], [0, 0]]), labels=tensor([0, 1, 2]))
        assert torch.isfinite(output.logits).all()
        assert torch.isfinite(model(tensor([[1, 2]])).logits).all()
    output.loss.backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)
