"""The core on real sentences: a model trained on the Stanford Sentiment Treebank, watched and replayed."""

import os
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from whence import Replay, attending, imposed, permuted, uniform
from whence.models import AdditiveConfig, AdditiveForSequenceClassification

FOLDER = Path(os.environ.get("WHENCE_DATA", "/nonexistent")) / "sst"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="set WHENCE_DATA to a folder with sst/ in it")


def sentences(split: str) -> list[tuple[list[str], int]]:
    """Words and label (positive or not) of each tree that is not neutral."""
    trees = (FOLDER / f"{split}.txt").read_text(encoding="utf-8").splitlines()
    labelled = [(re.findall(r" ([^() ]+)\)", tree), int(tree[1])) for tree in trees]
    return [(words, int(label > 2)) for words, label in labelled if label != 2]


@cache
@torch.enable_grad()
def trained() -> tuple[AdditiveForSequenceClassification, dict[str, int]]:
    """Two passes over the training sentences, in some seconds."""
    train = sentences("train")
    words = sorted({word.lower() for text, _ in train for word in text})
    vocabulary = {word: i for i, word in enumerate(["<pad>", "<unk>", *words])}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = AdditiveConfig(vocab_size=len(vocabulary), embedding_size=50, hidden_size=32)
        model = AdditiveForSequenceClassification(config)
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3)
    generator = torch.Generator().manual_seed(0)
    drawn = torch.cat([torch.randperm(len(train), generator=generator) for _ in range(2)]).split(640)
    order = [i for some in drawn for i in sorted(some.tolist(), key=lambda i: len(train[i][0]))]  # little padding
    for start in range(0, len(order), 64):
        ids, mask, labels = batch([train[i] for i in order[start : start + 64]], vocabulary)
        optimiser.zero_grad()
        model(ids, mask, labels=labels).loss.backward()
        optimiser.step()
    return model.eval(), vocabulary


def batch(examples, vocabulary):
    texts = [torch.tensor([vocabulary.get(word.lower(), 1) for word in words]) for words, _ in examples]
    ids = torch.nn.utils.rnn.pad_sequence(texts, batch_first=True)
    return ids, (ids != 0).long(), torch.tensor([label for _, label in examples])


@torch.no_grad()
def test_a_trained_model_is_watched_and_altered_on_the_development_set():
    model, vocabulary = trained()
    dev = sentences("dev")
    assert len(dev) == 872
    ids, mask, labels = batch(dev, vocabulary)
    with attending(model) as tape:
        plain = (model(ids, mask).logits.argmax(-1) == labels).float().mean()
    weights = tape.only("attention").weights
    assert plain > 0.70
    assert_close(weights.sum(-1), torch.ones(872, 1, 1))
    assert not weights[:, 0, 0][mask == 0].any()
    with attending(model, override=uniform, watch=None):
        even = (model(ids, mask).logits.argmax(-1) == labels).float().mean()
    assert even > 0.5
    assert even != plain


@torch.no_grad()
def test_a_hundred_permutations_of_real_sentences_are_those_of_a_loop():
    model, vocabulary = trained()
    ids, mask, _ = batch(sentences("dev")[:24], vocabulary)
    replay = Replay(model, "attention", {"input_ids": ids, "attention_mask": mask})
    assert replay.strategy == "queries"
    hidden, _ = model.encoder(model.embeddings(ids), mask.bool())
    drawn = permuted(0)
    for _ in range(20):
        shuffled = drawn(replay.call)
        for row, own, length in zip(shuffled[:, 0, 0], replay.call.weights[:, 0, 0], mask.sum(1), strict=True):
            assert_close(np.sort(row[:length].numpy()), np.sort(own[:length].numpy()))
        slowly = torch.stack(
            [
                model.decoder.classify(sum(w * h for w, h in zip(row, states, strict=True)))
                for row, states in zip(shuffled[:, 0, 0], hidden, strict=True)
            ]
        )
        assert_close(replay(imposed(shuffled))[0], slowly, atol=1e-5, rtol=1e-4)
