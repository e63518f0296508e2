"""Drift and speed beside slow loops over prefixes, and of readers whose memory was set by hand."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from support.models import remembering
from whence.data.synthetic import recall
from whence.data.synthetic.recall import delay_of
from whence.evaluation.state_drift import drifts
from whence.training.config import Training
from whence.training.init import untrained

LONGEST = 10


def state_after(model, tokens: list[int], still: torch.Tensor | None = None, steps: int = 0) -> np.ndarray:
    """The whole text again through torch's own network, then so many steps of one vector: no state is handed on."""
    x = model.embeddings(torch.tensor([tokens]))
    if still is not None:
        x = torch.cat([x, still.expand(1, steps, -1)], 1)
    _, last = model.cell(x)
    return torch.cat(last if isinstance(last, tuple) else (last,), -1)[0, 0].detach().numpy()


@pytest.mark.parametrize("cell", ["rnn", "lstm", "gru"])
def test_beside_a_slow_loop(cell):
    corpus = recall.load(sizes={"train": 40, "test": 16}, tested=(1, 4, 13))
    subject = untrained(Training(model="reader", encoder=cell, embedding_size=5, hidden_size=6), corpus)
    examples, model, numbers = corpus["test"], subject.model, subject.tokenizer.get_vocab()
    drift, speed = drifts(subject, examples, [1] * len(examples), LONGEST, batch_size=3)
    noise = [numbers[word] for example in examples for word in example.words[1:-1]]
    still = model.embeddings(torch.tensor(noise)).detach().mean(0)
    for place, example in enumerate(examples):
        tokens = [numbers["<s>"], *(numbers[word] for word in example.words)]
        steps = []
        for k in range(min(delay_of(example), LONGEST)):
            steps.append(np.linalg.norm(state_after(model, tokens[: 3 + k]) - state_after(model, tokens[: 2 + k])))
        assert_allclose(drift[place], np.mean(steps), rtol=1e-4)
        there = [state_after(model, tokens[:2], still, LONGEST + more) for more in (0, 1)]
        assert_allclose(speed[place], np.linalg.norm(there[1] - there[0]), rtol=1e-3, atol=1e-6)


def test_an_item_of_several_words_ends_with_its_last():
    """The same text with a longer item is one whose noise begins later."""
    corpus = recall.load(sizes={"train": 40, "test": 20}, tested=(6,))
    subject = untrained(Training(model="reader", encoder="lstm", embedding_size=5, hidden_size=6), corpus)
    numbers, examples = subject.tokenizer.get_vocab(), corpus["test"]
    drift, _ = drifts(subject, examples, [3] * len(examples), LONGEST)
    for place, example in enumerate(examples):
        tokens = [numbers["<s>"], *(numbers[word] for word in example.words)]
        states = [state_after(subject.model, tokens[: 4 + k]) for k in range(5)]
        assert_allclose(drift[place], np.linalg.norm(np.diff(states, axis=0), axis=1).mean(), rtol=1e-4)


def test_what_keeps_everything_does_not_move():
    corpus = remembering.apart()
    subject = remembering.keeping(corpus, [1.0] * remembering.N)
    drift, speed = drifts(subject, corpus["test"], [1] * len(corpus["test"]), LONGEST)
    assert_allclose(drift, 0, atol=1e-6)
    assert_allclose(speed, 0, atol=1e-6)


def test_what_decays_moves_by_what_it_loses():
    """A unit that keeps the share z of itself is z^k after k steps: it moves z^k (1 − z) at the next."""
    corpus = remembering.apart()
    kept = np.linspace(0.92, 0.99, remembering.N)
    subject = remembering.keeping(corpus, kept)
    drift, speed = drifts(subject, corpus["test"], [1] * len(corpus["test"]), LONGEST)
    z = np.array([kept[corpus.labels.index(example.label)] for example in corpus["test"]])
    steps = np.array([min(delay_of(example), LONGEST) for example in corpus["test"]])
    assert_allclose(speed, z**LONGEST * (1 - z), rtol=1e-3)
    assert_allclose(drift, (1 - z**steps) / steps, rtol=1e-3)


def test_without_noise_there_is_no_drift_and_without_a_state_neither():
    corpus = recall.load(sizes={"train": 40, "test": 40}, tested=(0, 3))
    reader, transformer = (
        Training(model="reader", hidden_size=8, embedding_size=4),
        Training(model="transformer", hidden_size=8, layers=1),
    )
    for training, none in ((reader, False), (transformer, True)):
        subject = untrained(training, corpus)
        drift, speed = drifts(subject, corpus["test"], [1] * 40, LONGEST)
        assert np.isnan(drift).tolist() == [none or delay_of(example) == 0 for example in corpus["test"]]
        assert np.isnan(speed).all() == none
