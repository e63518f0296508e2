"""Shards: merged they are the whole table, byte for byte, whatever the shards and whatever their order; and a kill
loses one of them at most.
"""

from dataclasses import replace
from functools import cache

import pytest
import torch

from support import saved_models
from support.shared import once
from whence.evaluation import sharding
from whence.evaluation.context import Context
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
OPTIONS: dict[str, dict[str, object]] = {
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
            "whence.evaluation.sharding.run_by_shards", lambda wanted, config, context, _: wanted.run(config, context)
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
    assert ShardFolder(folder).of_batches(4).finished() == [(0, 1), (1, 3), (3, 5)]
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


class OutOfMemory:
    """While open, the model cannot run more than so many texts at a time: torch's allocator itself refuses."""

    def __init__(self, model, most):
        self.model, self.most, self.seen = model, most, []

    def __enter__(self):
        self.hook = self.model.register_forward_pre_hook(self.look, with_kwargs=True)
        return self

    def __exit__(self, *_):
        self.hook.remove()

    def look(self, module, args, kwargs):
        n = len(kwargs["input_ids"])
        self.seen.append(n)
        if n > self.most:
            torch.empty(2**50, dtype=torch.uint8)


@pytest.mark.parametrize("saved", [True, False])
def test_batches_are_halved_when_memory_runs_out(saved, tmp_path, monkeypatch):
    monkeypatch.setattr(sharding, "SECONDS", 0.0)
    monkeypatch.setattr("whence.evaluation.config.AUTO_BATCH", 16)
    with OutOfMemory(subject("score").model, 4) as limited:
        found = run("score", Store(tmp_path) if saved else None, batch_size="auto").table
    assert [n for n in dict.fromkeys(limited.seen) if n >= 4] == [16, 8, 4]
    expected = run("score", None, batch_size=4).table
    assert table_bytes(found) == table_bytes(expected)


def test_without_auto_it_ends(tmp_path):
    with OutOfMemory(subject("score").model, 4), pytest.raises(RuntimeError, match="can't allocate memory"):
        run("score", Store(tmp_path), batch_size=8)


def test_finished_shards_are_kept_when_batches_are_halved(tmp_path):
    store, context = ShardFolder(tmp_path), run("score", None).table
    store.of_batches(8).save((0, 1), context.head(3))
    store.of_batches(8).save((2, 3), context.tail(2))
    store.of_batches(8).copy_doubled(store.of_batches(4), 5)
    assert store.of_batches(4).finished() == [(0, 2), (4, 5)]
    assert store.of_batches(4).load((4, 5)).equals(store.of_batches(8).load((2, 3)))


def test_autocast_holds_for_the_whole_run(monkeypatch):
    seen = []
    wanted = experiment("score")

    def look(config, context):
        seen.append((torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")))
        return wanted.columns.table([])

    monkeypatch.setattr(sharding, "DTYPES", {"float16": torch.float16})
    for precision in ("float16", "none"):
        options = config("score", autocast=precision)
        sharding.table_of(replace(wanted, run=look), options, context_of("score"), None)
    assert seen[0] == (True, torch.float16)  # LSTMs have no half precision on a processor: nothing is run here
    assert seen[1][0] is False


def test_the_cache_key_is_that_of_before_autocast():
    assert "autocast" not in config("score").cache_key()
    assert config("score", autocast="float16").cache_key()["autocast"] == "float16"


def context_of(name):
    return Context(subject(name), corpus()["test"][:17], range(17), batch_size=4, quiet=True, name=name)


def test_without_a_store_nothing_is_sharded(monkeypatch):
    monkeypatch.setattr("whence.evaluation.sharding.run_by_shards", None)
    assert len(run("score", None).table) == 17


def test_a_long_shard_is_followed_by_shorter_ones(monkeypatch):
    clock = iter([0.0, 4.0, 4.0, 24.0, 24.0, 30.0])  # seconds at the beginning and the end of each shard
    monkeypatch.setattr("whence.evaluation.sharding.time.perf_counter", lambda: next(clock))
    assert list(sharding._paced((0, 8))) == [(0, 1), (1, 6), (6, 8)]
