"""The batches of a training: a curriculum's texts, batches encoded once."""

import pytest

from whence.core.errors import BadConfig
from whence.data.examples import Example
from whence.data.synthetic import stories
from whence.training import batching
from whence.training.batching import batches_by_epoch, encoded_once
from whence.training.config import Training
from whence.training.init import untrained
from whence.training.recipe import Recipe


@pytest.fixture(scope="module")
def corpus():
    return stories.load(sizes={"train": 40, "dev": 16, "test": 4})


@pytest.fixture
def subject(corpus):
    return untrained(Training(data="stories", encoder="average", embedding_size=8, hidden_size=8), corpus)


def texts_of(batches):
    return sorted(number for make in batches for number in make().examples.tolist())


def test_a_curriculum_shows_short_texts_first(subject):
    train = [Example(text="anna " * words, pair="where", label="harbour") for words in (3, 9, 5, 20, 4)]
    recipe = Recipe(curriculum=((5, 2), (10, 3)), batch_size=2)
    of_epoch = batches_by_epoch(subject, train, recipe)
    seen = [texts_of(of_epoch(epoch)) for epoch in range(5)]
    assert seen == [[0, 2, 4], [0, 2, 4], [0, 1, 2, 4], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]
    with pytest.raises(BadConfig, match="begins with texts of at most 2 words; the shortest training text has 3"):
        batches_by_epoch(subject, train, Recipe(curriculum=((2, 1),)))


@pytest.mark.parametrize(("most", "same"), [(10**6, True), (10, False)])
def test_batches_are_kept_unless_they_are_too_many(subject, corpus, monkeypatch, most, same):
    monkeypatch.setattr(batching, "MAX_CACHED_WORDS", most)
    make = batches_by_epoch(subject, corpus["train"], Recipe())(0)[0]
    assert (make() is make()) == same


def test_dev_is_encoded_once_and_the_subject_is_left_as_it_was(subject, corpus):
    dev = corpus["dev"]
    with encoded_once(subject, dev):
        first, again = list(subject.batches(dev, 4)), list(subject.batches(dev, 4))
        other = list(subject.batches(corpus["test"], 4))
        assert all(one is two for one, two in zip(first, again, strict=True))
        assert len(other) == 1
        assert len(list(subject.batches(dev, 8))) == 2
    assert "batches" not in vars(subject)
    assert next(subject.batches(dev, 4)) is not first[0]
