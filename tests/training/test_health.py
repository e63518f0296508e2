"""The health of a training: gradients and norms by hand, chance level, and a model that cannot learn is caught."""

import json
import math

import pytest
import torch

from whence.data.examples import Corpus, Example
from whence.data.synthetic import stories
from whence.training.config import Training
from whence.training.fit import fit, loss_of
from whence.training.health import Health, better_than_chance, chance_score, gradient_norms, norms, parts
from whence.training.init import untrained
from whence.training.recipe import Recipe
from whence.training.record import RECORD
from whence.training.train import train


@pytest.fixture(scope="module")
def corpus():
    return stories.load(sizes={"train": 200, "dev": 100, "test": 4})


@pytest.fixture
def subject(corpus):
    return untrained(Training(data="stories", embedding_size=8, hidden_size=8), corpus)


def test_norms_of_parts_by_hand(subject, corpus):
    model = subject.model
    model.embeddings.weight.requires_grad_(False)
    assert set(parts(model)) == {"encoder", "question", "score", "decoder"}  # frozen vectors are no part
    loss_of(subject, subject.encode(corpus["train"][:8])).backward()
    weight, bias = model.decoder.classify.parameters()
    assert norms(model)["decoder"] == pytest.approx(math.hypot(weight.norm().item(), bias.norm().item()))
    assert gradient_norms(model)["decoder"] == pytest.approx(
        math.sqrt(sum(value**2 for p in (weight, bias) for value in p.grad.flatten().tolist()))
    )


def test_a_query_that_gets_no_gradient_is_seen(subject, corpus):
    """At torch's initialisation the question hardly reaches the weights; a larger one mends that."""
    progress = fit(subject, corpus["train"], corpus["dev"], Recipe(epochs=1), quiet=True)
    assert len(progress.gradients) == math.ceil(200 / 32)
    assert progress.gradients[0]["question"] < 1e-2 * progress.gradients[0]["decoder"]
    large = untrained(
        Training(data="stories", embedding_size=8, hidden_size=8, projection_scale=16.0, v_scale=4.0), corpus
    )
    mended = fit(large, corpus["train"], corpus["dev"], Recipe(epochs=1), quiet=True)
    assert mended.gradients[0]["question"] > 10 * progress.gradients[0]["question"]


def test_warnings_by_rule():
    sick = Health({"a": 1.0, "b": 9e-4}, {"a": (10.0, 1.9), "b": (10.0, 2.1)}, chance=0.5, learned=False)
    assert sick.warnings == [
        "b got a gradient of norm 9.0e-04 in the first 20 steps, where the largest part got 1.0e+00",
        "the norm of a fell from 10 to 1.9",
        "the model did not learn: its best epoch is no better than chance on dev (0.500)",
    ]
    assert Health({"a": 1.0, "b": 2e-3}, {"a": (10.0, 2.1)}, chance=None, learned=None).warnings == []


def test_better_than_chance_is_two_standard_errors():
    """Of 100 examples with a majority of one half: 0.5 + 2 · sqrt(0.25 / 100) = 0.6."""
    assert better_than_chance(0.61, 0.5, 100) is True
    assert better_than_chance(0.59, 0.5, 100) is False
    assert better_than_chance(0.59, None, 100) is None
    assert better_than_chance(0.05, 0.0, 100) is True


def test_chance_is_the_share_of_the_most_frequent_class(subject):
    dev = [Example(text="x", pair="y", label=label) for label in ("a", "b", "a", "c")]
    assert chance_score(subject, dev) == 0.5


def test_the_record_says_that_a_model_did_not_learn(tmp_path):
    """Labels that the texts say nothing about: nothing can be learned, whatever is tried."""
    torch.manual_seed(0)
    made = [Example(text="a b a", label="yes" if n % 2 else "no") for n in range(60)]
    corpus = Corpus("coins", {"train": tuple(made), "dev": tuple(made)}, labels=("no", "yes"))
    train(Training(data="reviews", epochs=1, embedding_size=4, hidden_size=4), tmp_path, corpus=corpus, quiet=True)
    health = json.loads((tmp_path / RECORD).read_text())["health"]
    assert (health["chance"], health["learned"]) == (0.5, False)
    assert health["warnings"][-1].startswith("the model did not learn")
    assert set(health["gradients"]) == set(health["norms"]) == {"embeddings", "encoder", "score", "decoder"}
