"""A model whose answers are known to rest on one sentence; trained once a process."""

import pytest

from whence.data import catalogue
from whence.models.training import Training, train


@pytest.fixture(scope="session")
def stories():
    """Stories of which one sentence answers the question."""
    return catalogue.load("stories")


@pytest.fixture(scope="session")
def story_reader(stories, tmp_path_factory):
    """A small model that has learned to answer the questions, through attention alone."""
    training = Training(
        data="stories", attention="dot", embedding_size=32, hidden_size=32, learning_rate=1e-2, epochs=10
    )
    return train(training, tmp_path_factory.mktemp("trained") / "stories", corpus=stories, quiet=True)
