"""Trainings that several tests share: small models that learn their task within seconds."""

from functools import cache
from pathlib import Path

from support.shared import once
from whence.api import train as train_by_name
from whence.data.examples import Corpus
from whence.data.synthetic import stories
from whence.training.config import Training
from whence.training.train import train

# answers a question about a story through attention alone: its encoder sees no other words
WORD_BY_WORD = Training(
    data="stories:words",
    attention="dot",
    encoder="average",
    embedding_size=32,
    hidden_size=32,
    epochs=12,
    patience=12,
    learning_rate=1e-2,
)
SMALL = Training(data="reviews", embedding_size=16, hidden_size=8, epochs=2, learning_rate=1e-2)


@cache
def short_stories() -> Corpus:
    """Stories that a model learns to answer in seconds."""
    return stories.load(sizes={"train": 600, "dev": 100, "test": 200}, short=True)


def word_by_word() -> Path:
    """The folder of the model that answers them word by word; trained once in a test run."""
    return once("word-by-word", lambda folder: train(WORD_BY_WORD, folder, corpus=short_stories(), quiet=True))


def tutorial_model() -> Path:
    """The model that the tutorial and the example train, which refuse another in its place; trained once."""
    small = {"embedding_size": 32, "hidden_size": 32, "epochs": 7, "patience": 7, "learning_rate": 1e-2}
    return once("tutorial-model", lambda folder: train_by_name("additive", data="reviews", out=folder, **small))
