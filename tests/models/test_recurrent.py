"""The recurrent translator beside a slow loop of plain gates, and its generation beside re-reading the prefix."""

import math

import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn, tensor
from torch.testing import assert_close
from transformers import AutoConfig, AutoModelForSeq2SeqLM

from support.tokenizing import reader
from whence import Replay, attending, from_logits, imposed, permuted, uniform, without
from whence.attribution.registry import explainer
from whence.data.examples import Example
from whence.models import RecurrentConfig, RecurrentForConditionalGeneration
from whence.subject.targets import predicted

TINY = {"vocab_size": 30, "embedding_size": 5, "hidden_size": 4}
SOURCE = tensor([[5, 6, 7, 8, 2], [9, 10, 2, 0, 0]])
MASK = (SOURCE != 0).long()
TARGET = tensor([[1, 8, 9, 10], [1, 12, 13, 14]])
both_forms = pytest.mark.parametrize("attention", ["additive", "dot"])


def built(attention, **options):
    torch.manual_seed(0)
    model = RecurrentForConditionalGeneration(RecurrentConfig(**TINY, attention=attention, **options))
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.6)
    return model.eval()


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


# generation


@both_forms
@torch.no_grad()
def test_steps_that_go_on_from_a_state_are_those_of_the_whole_target(attention):
    model = built(attention)
    whole = model(SOURCE, MASK, decoder_input_ids=TARGET).logits
    memory, parts = None, []
    for piece in TARGET.split([1, 2, 1], dim=1):
        output = model(SOURCE, MASK, decoder_input_ids=piece, past_key_values=memory, use_cache=True)
        memory = output.past_key_values
        parts.append(output.logits)
    assert_close(torch.cat(parts, dim=1), whole)


@pytest.mark.parametrize("beams", [1, 3])
@both_forms
def test_generating_with_the_state_kept_is_generating_from_the_whole_prefix(attention, beams):
    model = built(attention)
    asked = {"attention_mask": MASK, "max_new_tokens": 7, "num_beams": beams, "do_sample": False}
    seen = {}
    for kept in (True, False):
        with attending(model) as tape:
            seen[kept] = model.generate(SOURCE, **asked, use_cache=kept)
        if attention == "dot":  # each step reads one token where the state is kept, else the whole prefix
            n_query = [call.weights.shape[2] for call in tape["attention"]]
            assert n_query == ([1] * len(n_query) if kept else list(range(1, len(n_query) + 1)))
    assert torch.equal(seen[True], seen[False])


@both_forms
def test_greedy_generation_is_argmax_step_by_step(attention):
    model = built(attention)
    prefix = tensor([[1], [1]])
    with torch.no_grad():
        for _ in range(6):
            logits = model(SOURCE, MASK, decoder_input_ids=prefix).logits[:, -1]
            logits[:, 2] = -math.inf  # six new tokens are asked for, so the end may not come before
            prefix = torch.cat([prefix, logits.argmax(-1, keepdim=True)], 1)
    generated = model.generate(SOURCE, attention_mask=MASK, max_new_tokens=6, min_new_tokens=6, do_sample=False)
    assert torch.equal(generated, prefix)


@both_forms
def test_saved_and_loaded_through_the_auto_classes(attention, tmp_path):
    model = built(attention)
    model.save_pretrained(tmp_path)
    assert isinstance(AutoConfig.from_pretrained(tmp_path), RecurrentConfig)
    loaded = AutoModelForSeq2SeqLM.from_pretrained(tmp_path).eval()
    assert_close(
        loaded(SOURCE, MASK, labels=TARGET).logits, model(SOURCE, MASK, labels=TARGET).logits, atol=0.0, rtol=0.0
    )
    assert loaded.lm_head.weight is not loaded.embeddings.weight
    assert torch.equal(loaded.generate(SOURCE, max_new_tokens=4), model.generate(SOURCE, max_new_tokens=4))
    with pytest.raises(NotImplementedError, match="make a new model with another vocab_size"):
        loaded.resize_token_embeddings(40)
    with pytest.raises(Exception, match="attention"):
        RecurrentConfig(attention="general")


# with the rest of the house


@both_forms
def test_raw_attention_reads_the_step_that_is_answered(attention):
    subject = reader(f"recurrent-{attention}")
    batch = subject.encode([Example("the movie was good", target="the good movie"), Example("bad", target="a film")])
    target = predicted(subject, batch)
    with torch.no_grad(), attending(subject.model) as tape:
        subject.model(**batch.inputs)
    weights = tape.joined("attention").weights[:, 0]  # [batch target source]
    assert weights.shape[1] == batch.answers.shape[1]
    for row, places in (
        ("prediction", target.positions.tolist()),
        ("auto", target.positions.tolist()),
        ("last", [4, 3]),
    ):
        found = explainer("raw_attention")(subject, batch, target, row=row)
        assert_allclose(found.scores, weights[[0, 1], places], atol=1e-6)
    found = explainer("raw_attention")(subject, batch, target, row="mean")
    assert_allclose(found.scores[1], weights[1, :4].mean(0), atol=1e-6)
    assert found.how == "layer: the only one, heads: mean, from: mean"


@both_forms
@torch.no_grad()
def test_a_replay_alters_every_step_as_attending_does(attention):
    model = built(attention)
    inputs = {"input_ids": SOURCE, "attention_mask": MASK, "decoder_input_ids": TARGET}
    replay = Replay(model, "attention", inputs)
    assert replay.strategy == "batch", replay.rejected
    assert replay.steps == (4 if attention == "additive" else 1)
    with attending(model, override=permuted(3), watch=None):
        expected = model(**inputs).logits
    assert_close(replay(permuted(3))[0], expected)  # the same draws, step by step
    in_parts = Replay(model, "attention", inputs, budget=1)
    for override in (uniform, uniform.only(examples=1), uniform.sparing(SOURCE == 2)):
        with attending(model, override=override, watch=None):
            expected = model(**inputs).logits.expand(3, -1, -1, -1)
        assert_close(replay(override, times=3), expected)
        assert_close(in_parts(override, times=3), expected)
    keys = torch.eye(5, dtype=torch.bool)[:3, None].expand(3, 2, 5)  # another key is taken away each time
    expected = []
    for key in range(3):
        with attending(model, override=without(key), watch=None):
            expected.append(model(**inputs).logits)
    for some in (replay, in_parts):
        assert_close(some(without(keys), times=3), torch.stack(expected))
    outcomes = replay(permuted(0), times=6)
    assert len({tuple(outcome.flatten().tolist()) for outcome in outcomes}) == 6


@torch.no_grad()
def test_a_replay_of_steps_is_not_that_of_the_first_step_alone():
    model = built("additive")
    inputs = {"input_ids": SOURCE, "attention_mask": MASK, "decoder_input_ids": TARGET}
    with attending(model) as tape:
        model(**inputs)
    later = uniform(tape["attention"][3])

    def last_step_alone(call):
        return later if call.step == 3 else call.weights

    got = Replay(model, "attention", inputs)(last_step_alone)[0]
    before = model(**inputs).logits
    assert_close(got[:, :3], before[:, :3])
    assert not torch.allclose(got[:, 3], before[:, 3])
    same = Replay(model, "attention", inputs)(imposed(tape))[0]
    assert_close(same, before)


def test_gradients_flow_from_a_replayed_output_to_what_every_step_imposes():
    model = built("additive")
    inputs = {"input_ids": SOURCE, "attention_mask": MASK, "decoder_input_ids": TARGET}
    logits = torch.zeros(2, 1, 1, 5, requires_grad=True)
    with attending(model, override=from_logits(logits), watch=None):
        (expected,) = torch.autograd.grad(model(**inputs).logits.pow(2).sum(), logits)
    replay = Replay(model, "attention", inputs)
    (got,) = torch.autograd.grad(replay(from_logits(logits)).pow(2).sum(), logits)
    assert_close(got, expected, atol=1e-6, rtol=1e-4)
    assert not replay(uniform).requires_grad
