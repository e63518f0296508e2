"""A model that needs the parent of each word attends to it, and `syntax` says so; at its beginning it did not."""

import json

import pytest

from whence.cli import main
from whence.data.embedded import clauses
from whence.experiments import syntax
from whence.experiments._running import perform
from whence.models.marking import accuracy
from whence.models.training import Training
from whence.models.workshop import train

TRAINING = Training(
    model="transformer", data="clauses:parents", hidden_size=64, layers=2, heads=2, epochs=4, batch_size=16,
    learning_rate=2e-3, dropout=0.0, keep_epochs=True,
)  # fmt: skip


@pytest.fixture(scope="module")
def corpus():
    return clauses.load(task="parents")


@pytest.fixture(scope="module")
def trained(corpus, tmp_path_factory):
    """A tagger that has learned what the parents of words are like; trained once, in a quarter of a minute."""
    folder = tmp_path_factory.mktemp("trained") / "parents"
    return folder, train(TRAINING, folder, corpus=corpus, quiet=True)


@pytest.fixture(scope="module")
def table(trained, corpus):
    config = syntax.Config(model=str(trained[0]), data="clauses:parents", limit=100, epochs=True, draws=1)
    return perform("syntax", config, corpus=corpus, quiet=True).table


def test_who_needs_parents_attends_to_them(trained, corpus, table):
    assert accuracy(trained[1], corpus["test"]) > 0.85  # half of it by chance
    ranked = syntax.ranking(table)
    assert ranked["high"].min() < -1.0  # nats, against the kind of random trees that it is nearest to
    assert ranked["p_holm"].min() < 1e-6
    found = syntax.verdict(table)
    assert found.answer == "yes"
    assert "From the first epoch to the last, the mean divergence of all heads changed by: true " in found.sentence


def test_before_training_no_head_does(table):
    assert table["epoch"].unique().tolist() == [0, 1, 2, 3, 4]
    begun = syntax.ranking(table[table["epoch"] == 0])
    assert (begun["p_holm"] > 0.5).all()
    assert syntax.verdict(table[table["epoch"] == 0]).answer == "no"


def test_epochs_are_drawn_and_can_be_asked_for(table):
    assert len(syntax.figure(table).axes) == 2  # a panel for each layer
    found = syntax.quantities(table)
    moved = found["KL to uniform, sees all, epoch 4"].mean - found["KL to uniform, sees all, epoch 0"].mean
    assert found["change of KL to uniform, sees all"].mean == pytest.approx(moved)
    assert found["change of KL to true, sees all"].mean < moved


def test_other_epochs_are_another_result_and_the_command_shows_them(trained, capsys, tmp_path):
    folder, _ = trained
    config = syntax.Config(model=str(folder), data="clauses:parents", epochs=True)
    assert sorted(config.identity()["epochs"]) == ["0", "1", "2", "3", "4"]
    asked = ["run", "syntax", "--model", str(folder), "--data", "clauses:parents", "--limit", "30", "--untrained",
             "--draws", "1", "--out", str(tmp_path), "--json"]  # fmt: skip
    with pytest.raises(SystemExit, match=r"^0$"):
        main(asked)
    said = json.loads(capsys.readouterr().out)
    assert said["verdict"]["answer"] == "yes"
    assert "arc_standard" in said["verdict"]["done"]
    assert [path.rpartition("-")[2] for path in said["figures"][3:]] == [
        f"{part}.{ending}" for part in ("heads", "sentence") for ending in ("svg", "pdf", "png")
    ]
