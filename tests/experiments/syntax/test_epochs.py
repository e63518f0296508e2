"""A model that needs the parent of each word attends to it, and `syntax` says so; at its beginning it did not."""

import shutil
from dataclasses import replace

import pytest
from numpy.testing import assert_allclose

from whence.analysis.syntax.heads import ranking
from whence.data.synthetic import clauses
from whence.evaluation.runner import each_epoch, run_experiment
from whence.experiments import syntax
from whence.results.result import Result
from whence.subject.metrics import accuracy
from whence.training.config import Training
from whence.training.train import train

TRAINING = Training(
    model="transformer",
    data="clauses:parents",
    hidden_size=64,
    layers=2,
    heads=2,
    epochs=8,
    batch_size=16,
    learning_rate=2e-3,
    dropout=0.0,
    patience=8,
    keep_epochs=True,
)


@pytest.fixture(scope="module")
def corpus():
    """Short sentences alone: they are learned in seconds."""
    whole = clauses.load(sizes={"train": 4000, "dev": 300, "test": 700}, task="parents")
    short = {split: tuple(e for e in examples if len(e.words) <= 9) for split, examples in whole.splits.items()}
    return replace(whole, splits=short)


@pytest.fixture(scope="module")
def trained(corpus, tmp_path_factory):
    """A tagger that has learned what the parents of words are like; trained once."""
    folder = tmp_path_factory.mktemp("trained") / "parents"
    return folder, train(TRAINING, folder, corpus=corpus, quiet=True)


@pytest.fixture(scope="module")
def table(trained, corpus):
    config = syntax.Config(model=str(trained[0]), data="clauses:parents", limit=100, epochs=True, draws=1)
    return run_experiment("syntax", config, corpus=corpus, quiet=True).table


def test_who_needs_parents_attends_to_them(trained, corpus, table):
    assert accuracy(trained[1], corpus["test"]) > 0.85  # half of it by chance
    ranked = ranking(table)
    assert ranked["high"].min() < -1.0  # nats, against the kind of random trees that it is nearest to
    assert ranked["p_holm"].min() < 1e-6
    found = syntax.verdict(table)
    assert found.answer == "yes"
    assert "From the first epoch to the last, the mean divergence of all heads changed by: true " in found.sentence


def test_before_training_no_head_does(table):
    assert table["epoch"].unique().tolist() == list(range(9))
    begun = ranking(table[table["epoch"] == 0])
    assert (begun["p_holm"] > 0.5).all()
    assert syntax.verdict(table[table["epoch"] == 0]).answer == "no"


def test_epochs_are_drawn_and_can_be_asked_for(table):
    assert len(syntax.figure(table).axes) == 2  # a panel for each layer
    found = syntax.quantities(table)
    moved = found["KL to uniform, sees all, epoch 8"].mean - found["KL to uniform, sees all, epoch 0"].mean
    assert found["change of KL to uniform, sees all"].mean == pytest.approx(moved)
    assert found["change of KL to true, sees all"].mean < moved


def test_other_epochs_are_another_result(trained, tmp_path):
    folder, _ = trained
    config = syntax.Config(model=str(folder), data="clauses:parents", epochs=True)
    assert sorted(config.cache_key()["epochs"]) == [str(epoch) for epoch in range(9)]
    shutil.copytree(folder, tmp_path / "other")
    shutil.rmtree(tmp_path / "other" / "epochs" / "8")
    assert syntax.Config(model=str(tmp_path / "other"), data=config.data, epochs=True).cache_key() != config.cache_key()


def test_as_a_callback_of_training_it_finds_what_the_kept_epochs_show(tmp_path):
    few = clauses.load(sizes={"train": 60, "dev": 10, "test": 30}, task="parents")
    training = Training(
        model="disan", data="clauses:parents", embedding_size=8, hidden_size=4, epochs=2, keep_epochs=True
    )
    config = syntax.Config(model=str(tmp_path / "m"), data="clauses:parents", draws=1)
    found: dict[int, Result] = {}
    train(training, tmp_path / "m", corpus=few, each_epoch=each_epoch("syntax", config, few, found), quiet=True)
    assert list(found) == [0, 1, 2]
    kept = run_experiment("syntax", config.model_copy(update={"epochs": True}), corpus=few, quiet=True).table
    for epoch, result in found.items():
        assert set(result.table["sees"]) == {"past", "future"}
        assert_allclose(result.table["divergence"], kept[kept["epoch"] == epoch]["divergence"])


def test_the_same_model_untrained_stands_beside_it_as_epoch_0(trained, corpus):
    config = syntax.Config(model=str(trained[0]), data="clauses:parents", limit=30, untrained=True, draws=1)
    both = run_experiment("syntax", config, corpus=corpus, quiet=True).table
    assert both["epoch"].unique().tolist() == [0, -1]
    means = both[(both["head"] == -1) & (both["layer"] == 1)].set_index(["epoch", "tree"])["divergence"]
    assert means[0, "true"] == pytest.approx(means[0, "chain"], abs=0.05)
    assert means[-1, "true"] < means[-1, "chain"] - 0.5
