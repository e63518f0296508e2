"""Shards: merged they are the whole table, byte for byte, whatever the shards and whatever their order; and a kill
loses one of them at most.
"""

from functools import cache

import pytest

from support import saved_models
from support.shared import once
from whence.evaluation import sharding
from whence.evaluation.runner import run_experiment, run_one_shard
from whence.results.experiment import experiment, names
from whence.results.shards import ShardFolder
from whence.results.store import Store, table_bytes
from whence.subject.subject import load
from whence.training.config import Training
from whence.training.train import train

# the table of the corpus as a whole: fitted, planted, ranked or counted over all texts, or of no texts at all
WHOLE = {
    "alignment",
    "controls",
    "human_evaluation",
    "lexicon",
    "memory",
    "probes",
    "representation_erasure",
    "syntax",
    "words",
}
ENCODER = {"correlation", "faithfulness", "heads", "identifiability", "layers", "permutation", "relabelling"}
OPTIONS = {
    "ablation": {"variants": ("uniform", "random", "permuted"), "retrain": 1},
    "adversary": {"strengths": (0.1,), "yardstick": 1},
    "correlation": {"method": ("gradient_squared", "random")},
    "faithfulness": {"method": ("raw_attention", "random"), "erase": ("delete", "replace"), "soft_draws": 1},
    "heads": {"lexicon": "vader"},
    "guide": {"sources": ("base",)},
    "instance_adversary": {"steps": 5, "restarts": 1},
    "permutation": {"permutations": 5},
    "rationales": {"method": ("raw_attention", "random")},
    "relabelling": {"draws": 1},
    "seeds": {"others": 1},
}
SMALL = Training(data="reviews", embedding_size=8, hidden_size=4, epochs=1, limit=60, learning_rate=1e-2)


@cache
def corpus():
    return saved_models.corpus()


def trained():
    """A model that can be retrained."""
    return once("sharded-model", lambda folder: train(SMALL, folder, corpus=corpus(), quiet=True))


@cache
def subject(name):
    return load(saved_models.bert() if name in ENCODER else trained())


def config(name, **more):
    model = saved_models.bert() if name in ENCODER else trained()
    given = {"model": str(model), "data": "reviews", "limit": 17, "batch_size": 4, **OPTIONS.get(name, {}), **more}
    return experiment(name).config(**given)


def run(name, store, **more):
    return run_experiment(name, config(name, **more), store, subject=subject(name), corpus=corpus(), quiet=True)


def unsharded(name, folder):
    """The table without shards; retrained models are kept in the folder."""
    patched = pytest.MonkeyPatch()
    with patched.context() as patch:
        patch.setattr(
            "whence.evaluation.runner.run_by_shards", lambda wanted, config, context, _: wanted.run(config, context)
        )
        return run(name, Store(folder)).table


def test_every_experiment_is_of_one_kind():
    assert {name for name in names() if experiment(name).shards is None} == WHOLE


@pytest.mark.parametrize("name", sorted(set(names()) - WHOLE))
def test_sharded_is_unsharded(name, tmp_path, monkeypatch):
    """Three shards, the last first, as if each ran elsewhere; then one shard for each batch."""
    whole = unsharded(name, tmp_path / "whole")
    assert len(whole) >= 17
    store = Store(tmp_path / "apart")
    (store.root).mkdir()
    (store.root / "models").symlink_to(tmp_path / "whole" / "models")
    monkeypatch.setattr("whence.evaluation.runner._given_subject", lambda _: subject(name))
    for number in (2, 0, 1):
        run_one_shard(name, config(name), store, (number, 3), corpus=corpus())
    (folder,) = (store.root / "shards").iterdir()
    assert ShardFolder(folder).finished() == [(0, 1), (1, 3), (3, 5)]
    monkeypatch.setattr(sharding, "run_shard", None)  # nothing is left to run
    assert table_bytes(run(name, store).table) == table_bytes(whole)
    assert not folder.exists()


@pytest.mark.parametrize("name", ["ablation", "instance_adversary"])
def test_so_is_what_an_ordinary_run_does(name, tmp_path, monkeypatch):
    monkeypatch.setattr(sharding, "SECONDS", 0.0)
    (tmp_path / "a").mkdir()
    whole = unsharded(name, tmp_path / "whole")
    (tmp_path / "a" / "models").symlink_to(tmp_path / "whole" / "models")
    assert table_bytes(run(name, Store(tmp_path / "a")).table) == table_bytes(whole)


def test_a_kill_loses_one_shard_at_most(tmp_path, monkeypatch):
    monkeypatch.setattr(sharding, "SECONDS", 0.0)
    run_shard, begun = sharding.run_shard, []

    def killed_in_the_fourth(*given):
        begun.append(given[-1])
        if len(begun) == 4:
            raise KeyboardInterrupt
        run_shard(*given)

    monkeypatch.setattr(sharding, "run_shard", killed_in_the_fourth)
    with pytest.raises(KeyboardInterrupt):
        run("correlation", Store(tmp_path))
    assert not list((tmp_path / "results").glob("*/*"))
    found = run("correlation", Store(tmp_path)).table
    assert begun == [(0, 1), (1, 2), (2, 3), (3, 4), (3, 4), (4, 5)]
    assert table_bytes(found) == table_bytes(run("correlation", None).table)


def test_without_a_store_nothing_is_sharded(monkeypatch):
    monkeypatch.setattr("whence.evaluation.runner.run_by_shards", None)
    assert len(run("score", None).table) == 17


def test_a_long_shard_is_followed_by_shorter_ones(monkeypatch):
    clock = iter([0.0, 4.0, 4.0, 24.0, 24.0, 30.0])  # seconds at the beginning and the end of each shard
    monkeypatch.setattr(sharding.time, "perf_counter", lambda: next(clock))
    assert list(sharding._paced((0, 8))) == [(0, 1), (1, 6), (6, 8)]
