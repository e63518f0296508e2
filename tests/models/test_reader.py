"""The reader by hand, beside torch's own networks, and a model without attention among the others."""

import math

import pytest
import torch
from torch import nn, tensor
from torch.testing import assert_close
from transformers import AutoModelForSequenceClassification

from whence import attending, uniform
from whence.core.errors import BadConfig, NoAttention
from whence.data.synthetic import recall, stories
from whence.models import ReaderConfig, ReaderForSequenceClassification
from whence.subject.metrics import accuracy
from whence.training.config import Training, training_for
from whence.training.init import untrained

TINY = {"vocab_size": 9, "embedding_size": 3, "hidden_size": 4, "bos_token_id": 1, "eos_token_id": 2}
TEXTS = {"input_ids": tensor([[1, 5, 6, 7, 2], [1, 8, 2, 0, 0]])}
SIZES = {"train": 40, "dev": 20, "test": 20}


def reader(**options) -> ReaderForSequenceClassification:
    with torch.random.fork_rng():
        torch.manual_seed(1)
        return ReaderForSequenceClassification(ReaderConfig(**TINY, **options)).eval()


@pytest.mark.parametrize("cell", ["rnn", "lstm", "gru"])
def test_the_answer_is_read_from_the_last_state_of_each_text(cell):
    """Each text by itself through torch's own network, without padding."""
    model = reader(cell=cell)
    logits = model(**TEXTS).logits
    for row, length in ((0, 5), (1, 3)):
        hidden, _ = model.cell(model.embeddings(TEXTS["input_ids"][row : row + 1, :length]))
        assert_close(logits[row], model.classify(hidden[0, -1]))


def test_an_elman_network_by_hand():
    """h = tanh(w x + u h): one unit, two words."""
    model = ReaderForSequenceClassification(ReaderConfig(vocab_size=3, embedding_size=1, hidden_size=1, cell="rnn"))
    for parameter, values in (
        (model.embeddings.weight, [[0.0], [1.0], [-2.0]]),
        (model.cell.weight_ih_l0, [[0.5]]),
        (model.cell.weight_hh_l0, [[2.0]]),
        (model.cell.bias_ih_l0, [0.0]),
        (model.cell.bias_hh_l0, [0.1]),
        (model.classify.weight, [[1.0], [-1.0]]),
        (model.classify.bias, [0.0, 0.5]),
    ):
        with torch.no_grad():
            parameter.copy_(tensor(values))
    first = math.tanh(0.5 + 0.1)
    last = math.tanh(-1.0 + 2 * first + 0.1)
    assert_close(model(tensor([[1, 2, 0]])).logits, tensor([[last, 0.5 - last]]))


def test_with_attention_it_is_the_only_road():
    model = reader(attention="additive")
    with attending(model) as tape:
        model(**TEXTS)
    weights = tape.only("attention").weights
    assert weights.shape == (2, 1, 1, 5)
    assert_close(weights[1, 0, 0], tensor([0.0, 1.0, 0.0, 0.0, 0.0]))  # not the first and the last token
    with attending(model, override=uniform, watch=None):
        logits = model(**TEXTS).logits
    hidden, _ = model.cell(model.embeddings(TEXTS["input_ids"][:1]))
    assert_close(logits[0], model.classify(hidden[0, 1:4].mean(0)))


def test_special_tokens_are_attended_if_asked():
    model = reader(attention="dot", attend_specials=True)
    with attending(model) as tape:
        model(**TEXTS)
    assert (tape.only("attention").weights[1, 0, 0] > 0).tolist() == [True, True, True, False, False]


@pytest.mark.parametrize("cell", ["rnn", "lstm", "gru"])
def test_step_by_step_is_the_same_as_at_once(cell):
    model = reader(cell=cell)
    x = model.embeddings(TEXTS["input_ids"][:1])
    hidden, last = model.cell(x)
    state = None
    for word in x.unbind(1):
        state = model.step(word, state)
    assert_close(state[:, :4], hidden[:, -1])
    if isinstance(last, tuple):
        assert_close(state[:, 4:], last[1][0])
    assert state.shape[1] == (8 if cell == "lstm" else 4)


def test_without_attention_there_is_nothing_to_watch():
    model = reader()
    assert not any("score" in name for name, _ in model.named_parameters())
    with attending(model, watch=None):
        model(**TEXTS)
    with pytest.raises(NoAttention, match="ReaderForSequenceClassification has no attention site"), attending(model):
        model(**TEXTS)


def test_it_is_trained_saved_and_known_to_the_auto_classes(tmp_path):
    corpus = recall.load(sizes=SIZES)
    subject = untrained(Training(model="reader", encoder="gru", hidden_size=8), corpus)
    assert dict(subject.sites) == {}
    assert isinstance(subject.model.cell, nn.GRU)
    assert 0 <= accuracy(subject, corpus["test"]) <= 1
    subject.model.save_pretrained(tmp_path)
    again = AutoModelForSequenceClassification.from_pretrained(tmp_path)
    batch = subject.encode(corpus["test"][:3])
    assert_close(again.eval()(**batch.inputs).logits, subject.model(**batch.inputs).logits)


@pytest.mark.parametrize(
    ("training", "data", "says"),
    [
        ({"model": "reader", "encoder": "cnn"}, recall, "encoder: input should be 'rnn', 'lstm' or 'gru', got 'cnn'"),
        ({"model": "reader"}, stories, "reader reads one text; stories has pairs"),
        ({"model": "additive", "encoder": "gru"}, recall, "should be 'lstm', 'cnn' or 'average', got 'gru'"),
        ({"model": "additive", "attention": "none"}, recall, "should be 'additive' or 'dot', got 'none'"),
    ],
)
def test_what_it_cannot_be_is_said(training, data, says):
    with pytest.raises(BadConfig, match=says):
        untrained(training_for(**training), data.load(sizes=SIZES))
