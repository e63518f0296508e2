"""Readers with hand-set weights, whose memory is known: one that keeps each word for a known time, one that forgets."""

import math
from collections.abc import Sequence

import torch

from whence.data.examples import Corpus
from whence.data.synthetic import recall
from whence.subject.subject import Subject
from whence.training.config import Training
from whence.training.init import untrained

N = len(recall.WORDS)
SIZES = {"train": 400, "dev": 40, "test": 240}


def apart() -> Corpus:
    """Words to be remembered, noise of other words."""
    return recall.load(sizes=SIZES, apart=True)


def keeping(corpus: Corpus, kept: Sequence[float]) -> Subject:
    """A GRU with a unit for each item: 1 when the item is read, times `kept` at every word of noise, held at others.

    It names the item whose unit is above a half, else the first. h ← (1 − z) n + z h (torch.nn.GRU): at an item z = 0
    and n is its unit; at noise n = 0 and z is `kept`; elsewhere z = 1.
    """
    training = Training(model="reader", encoder="gru", embedding_size=N + 2, hidden_size=N)
    subject = untrained(training, corpus)
    model, numbers = subject.model, subject.tokenizer.get_vocab()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.embeddings.weight[:, N + 1] = 1.0  # held
        for item, word in enumerate(recall.WORDS):
            model.embeddings.weight[numbers[word]] = torch.eye(N + 2)[item] + torch.eye(N + 2)[N]
        for word in filter(numbers.__contains__, recall.OTHERS):
            model.embeddings.weight[numbers[word]] = 0.0
        model.cell.weight_ih_l0[N : 2 * N, N], model.cell.weight_ih_l0[N : 2 * N, N + 1] = -200.0, 200.0
        model.cell.bias_ih_l0[N : 2 * N] = torch.tensor([math.log(z / (1 - z)) if z < 1 else 100.0 for z in kept])
        model.cell.weight_ih_l0[2 * N :, :N] = 50.0 * torch.eye(N)
        model.classify.weight.copy_(torch.eye(N))
        model.classify.bias[0] = 0.5
    return subject


def forgetting(corpus: Corpus) -> Subject:
    """An Elman network without a road from one state to the next: it knows the last word alone."""
    subject = untrained(Training(model="reader", encoder="rnn", embedding_size=6, hidden_size=5, seed=3), corpus)
    with torch.no_grad():
        subject.model.cell.weight_hh_l0.zero_()
    return subject
