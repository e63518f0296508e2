"""The additive model with LSTMs of width one per direction, on two tokens, in plain numbers."""

import math

import pytest
import torch
from torch import nn, tensor
from torch.testing import assert_close

from whence import attending
from whence.models import AdditiveConfig, AdditiveForSequenceClassification

TINY = {"vocab_size": 20, "embedding_size": 6, "hidden_size": 4}


# Vashishth et al. 2019, Eq. 1 to 3, on two tokens, with LSTMs of width one per direction, in plain numbers


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def lstm_by_hand(inputs, parameters, state):
    """One direction of an LSTM of width one over numbers: its hidden states, and the last hidden and cell."""
    of_input, of_hidden, biases = parameters
    hidden, cell = state
    states = []
    for x in inputs:
        i, f, g, o = (of_input[k] * x + of_hidden[k] * hidden + biases[k] for k in range(4))
        cell = sigmoid(f) * cell + sigmoid(i) * math.tanh(g)
        hidden = sigmoid(o) * math.tanh(cell)
        states.append(hidden)
    return states, (hidden, cell)


def both_ways(lstm, inputs, states=((0.0, 0.0), (0.0, 0.0))):
    """Both directions: for each token its two hidden states, and the last state of each direction."""
    ways = []
    for suffix, given, state in (("", inputs, states[0]), ("_reverse", inputs[::-1], states[1])):
        parts = [
            getattr(lstm, f"{name}_l0{suffix}").detach().flatten().tolist()
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        ]
        biases = [one + other for one, other in zip(parts[2], parts[3], strict=True)]
        ways.append(lstm_by_hand(given, (parts[0], parts[1], biases), state))
    (forward, last), (backward, first) = ways
    return list(zip(forward, backward[::-1], strict=True)), (last, first)


@pytest.mark.parametrize("equation", [1, 2, 3])
def test_two_tokens_by_hand(equation):
    """u = tanh(W h + b); u = tanh(W₁ h + b + W₂ h^y); u = tanh(W₁ h + W₂ h'^y), where h'^y is read on from h."""
    torch.manual_seed(equation)
    config = AdditiveConfig(
        vocab_size=6, embedding_size=1, hidden_size=1, pairs=equation > 1, conditional=equation == 3
    )
    model = AdditiveForSequenceClassification(config).eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter)
    x = model.embeddings.weight.detach().flatten().tolist()
    text, state = both_ways(model.encoder.lstm, [x[1], x[2]])
    (w,), (v,) = model.score.project.weight.tolist(), model.score.v.weight.flatten().tolist()
    e = [w[0] * h[0] + w[1] * h[1] for h in text]
    if equation < 3:
        e = [score + model.score.project.bias.item() for score in e]
    if equation > 1:
        begin = (state,) if equation == 3 else ()
        _, ends = both_ways(model.question.lstm, [x[3], x[4]], *begin)
        asks = model.score.ask.weight.flatten().tolist()
        e = [score + asks[0] * ends[0][0] + asks[1] * ends[1][0] for score in e]
    e = [math.exp(v * math.tanh(score)) for score in e]
    alphas = [score / sum(e) for score in e]
    context = [sum(a * h[d] for a, h in zip(alphas, text, strict=True)) for d in (0, 1)]
    decoder = model.decoder.classify
    expected = [
        row[0] * context[0] + row[1] * context[1] + bias
        for row, bias in zip(decoder.weight.tolist(), decoder.bias.tolist(), strict=True)
    ]
    ids, types = ([[1, 2, 3, 4]], [[0, 0, 1, 1]]) if equation > 1 else ([[1, 2]], [[0, 0]])
    with attending(model) as tape:
        logits = model(tensor(ids), token_type_ids=tensor(types)).logits
    assert_close(tape.only("attention").weights[0, 0, 0, :2], tensor(alphas))
    assert_close(logits[0], tensor(expected))
    assert (model.score.project.bias is None) is (equation == 3)  # Eq. 3 has none


def test_conditional_encoding_reads_the_second_text_on_from_the_first():
    """What the second text asks depends on the first, and each text of a batch on its own partner alone."""
    torch.manual_seed(0)
    types = tensor([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 0, 0]])
    ids = tensor([[5, 6, 7, 8, 9, 10], [11, 12, 13, 14, 0, 0]])
    for bypass in (False, True):
        config = AdditiveConfig(**TINY, pairs=True, conditional=True, bypass=bypass)
        model = AdditiveForSequenceClassification(config).eval()
        logits = model(ids, token_type_ids=types).logits
        assert_close(model(ids[1:, :4], token_type_ids=types[1:, :4]).logits[0], logits[1])
        x = model.embeddings(ids)
        _, question = model._read(x, (types == 0) & (ids > 0), types == 1)
        _, other = model._read(model.embeddings(ids.where(ids != 5, 15)), (types == 0) & (ids > 0), types == 1)
        assert not torch.allclose(question[0], other[0])
        assert_close(question[1], other[1])
    for options in ({}, {"pairs": True, "encoder": "cnn"}):
        with pytest.raises(ValueError, match="that needs pairs=True and an lstm"):
            AdditiveForSequenceClassification(AdditiveConfig(**TINY, conditional=True, **options))
