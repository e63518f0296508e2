"""The recurrent translator compared with a slow loop of plain gates."""

import math

import pytest
import torch
from torch import nn, tensor
from torch.testing import assert_close

from support.models.recurrent import MASK, SOURCE, TARGET, both_forms, built
from whence import attending


def gates(x, hidden, cell, weights):
    """One step of an LSTM, written out."""
    of_input, of_hidden, bias, other_bias = weights
    i, f, g, o = (of_input @ x + bias + of_hidden @ hidden + other_bias).chunk(4)
    cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(cell), cell


def weights_of(lstm, suffix):
    return [getattr(lstm, f"{name}{suffix}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]


def slow_encoder(model, ids):
    states = list(model.encoder.embeddings(ids))
    for layer in range(model.config.num_layers):
        ways = []
        for suffix, given in (("", states), ("_reverse", states[::-1])):
            hidden, cell, way = torch.zeros(4), torch.zeros(4), []
            for x in given:
                hidden, cell = gates(x, hidden, cell, weights_of(model.encoder.lstm.lstm, f"_l{layer}{suffix}"))
                way.append(hidden)
            ways.append(way)
        states = [torch.cat(pair) for pair in zip(ways[0], ways[1][::-1], strict=True)]
    return states


def slow_logits(model, source, target):
    """Teacher-forced logits of one pair, token by token, and the weights of each step."""
    h, layers, decoder = slow_encoder(model, source), model.config.num_layers, model.decoder
    additive = model.config.attention == "additive"
    hidden = list(torch.tanh(decoder.begin.weight @ h[0][4:] + decoder.begin.bias).chunk(layers))
    cell = [torch.zeros(4) for _ in range(layers)]
    logits, rows = [], []

    def attended(state):
        if additive:
            asked = decoder.query.weight @ state + decoder.query.bias
            scores = [float(decoder.v.weight[0] @ torch.tanh(asked + decoder.keys.weight @ one)) for one in h]
        else:
            scores = [float(state @ decoder.keys.weight @ one) for one in h]
        total = sum(math.exp(score) for score in scores)
        rows.append([math.exp(score) / total for score in scores])
        return sum(weight * one for weight, one in zip(rows[-1], h, strict=True))

    for word in model.embeddings(target):
        context = attended(hidden[-1]) if additive else None
        given = word if context is None else torch.cat([word, context])
        for layer in range(layers):
            own = weights_of(decoder.cells[layer], "") if additive else weights_of(decoder.lstm, f"_l{layer}")
            given, cell[layer] = gates(given, hidden[layer], cell[layer], own)
            hidden[layer] = given
        context = attended(hidden[-1]) if context is None else context
        read = torch.tanh(model.combine.weight @ torch.cat([context, hidden[-1]]))
        logits.append(model.lm_head.weight @ read + model.lm_head.bias)
    return torch.stack(logits), tensor(rows)


@pytest.mark.parametrize("layers", [1, 2])
@both_forms
@torch.no_grad()
def test_two_tokens_and_more_by_a_slow_loop(attention, layers):
    model = built(attention, num_layers=layers)
    with attending(model) as tape:
        logits = model(SOURCE, MASK, decoder_input_ids=TARGET).logits
    shapes = [list(call.weights.shape) for call in tape["attention"]]
    assert shapes == ([[2, 1, 1, 5]] * 4 if attention == "additive" else [[2, 1, 4, 5]])
    weights = tape.joined("attention").weights[:, 0]  # [batch target source]
    for row, length in enumerate([5, 3]):
        expected, rows = slow_logits(model, SOURCE[row, :length], TARGET[row])
        assert_close(logits[row], expected)
        assert_close(weights[row, :, :length], rows)
    two, _ = slow_logits(model, SOURCE[0, :2], TARGET[0, :2])
    assert_close(model(SOURCE[:1, :2], decoder_input_ids=TARGET[:1, :2]).logits[0], two)


@both_forms
def test_padding_changes_nothing(attention):
    model = built(attention)
    together = model(SOURCE, MASK, decoder_input_ids=TARGET).logits
    assert_close(model(SOURCE[1:, :3], decoder_input_ids=TARGET[1:]).logits[0], together[1])
    longer = torch.cat([TARGET, torch.zeros(2, 2, dtype=torch.long)], dim=1)
    assert_close(model(SOURCE, MASK, decoder_input_ids=longer).logits[:, :4], together)
    with pytest.raises(ValueError, match="padding must stand at the end of each text"):
        model(SOURCE, MASK.flip(1), decoder_input_ids=TARGET)


@both_forms
def test_a_step_does_not_see_what_comes_after(attention):
    model = built(attention)
    changed = TARGET.clone()
    changed[:, 3] = 20
    one, other = (model(SOURCE, MASK, decoder_input_ids=ids).logits for ids in (TARGET, changed))
    assert_close(one[:, :3], other[:, :3], atol=0.0, rtol=0.0)
    assert not torch.allclose(one[:, 3], other[:, 3])


@both_forms
def test_the_loss_is_that_of_the_shifted_labels(attention):
    model = built(attention)
    labels = tensor([[8, 9, 2], [10, 2, -100]])
    output = model(SOURCE, MASK, labels=labels)
    expected = model(SOURCE, MASK, decoder_input_ids=tensor([[1, 8, 9], [1, 10, 2]])).logits
    assert_close(output.logits, expected)
    assert_close(output.loss, nn.functional.cross_entropy(expected.flatten(0, 1), labels.flatten()))
    assert output.past_key_values is None
    assert_close(
        model(SOURCE, MASK, decoder_input_ids=TARGET, logits_to_keep=2).logits,
        model(SOURCE, MASK, decoder_input_ids=TARGET).logits[:, -2:],
    )
    with pytest.raises(ValueError, match="expected decoder_input_ids or labels"):
        model(SOURCE)


@both_forms
def test_gradients_reach_every_parameter_and_the_word_vectors(attention):
    model = built(attention)
    model(SOURCE, MASK, labels=TARGET).loss.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.any(), name
    vectors = model.get_input_embeddings().weight
    assert vectors is model.encoder.embeddings.weight
    assert (vectors.grad.abs().sum(1) > 0).nonzero().flatten().tolist() == [2, 5, 6, 7, 8, 9, 10]


@both_forms
def test_dropout_changes_answers_in_training_alone(attention):
    model = built(attention, dropout=0.4)
    with torch.no_grad():
        assert_close(model(SOURCE, labels=TARGET).loss, model(SOURCE, labels=TARGET).loss, atol=0.0, rtol=0.0)
        model.train()
        assert model(SOURCE, labels=TARGET).loss != model(SOURCE, labels=TARGET).loss
