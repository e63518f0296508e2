"""The tasks of a study: which there are, what their keys depend on, and what is refused before anything runs."""

import pytest

from support.scale.grids import small_grid, write_table
from whence.core.errors import BadConfig
from whence.studying.grid import read_grid
from whence.studying.tasks import plan


@pytest.fixture
def table(tmp_path):
    return write_table(tmp_path / "few.csv", 10)


def names(grid):
    return [task.name for task in plan(grid)]


def test_every_model_is_trained_on_every_corpus_from_every_seed(table):
    tasks = plan(small_grid(table))
    assert len(tasks) == 2 * 2 * (1 + 2)
    assert tasks[0].name == "train mean on few, seed 0"
    by_key = {task.key: task for task in tasks}
    assert len(by_key) == len(tasks)
    for task in tasks:
        trained = [by_key[key] for key in task.needs]
        assert [one.kind for one in trained] == ([] if task.kind == "train" else ["train"])
        assert all(one.about["model"] == task.about["model"] for one in trained)
        assert all(one.options["seed"] == task.options["seed"] for one in trained)


def test_options_of_the_study_the_corpus_the_model_and_the_sweep_in_this_order(table):
    grid = small_grid(
        table,
        training={"epochs": 2, "hidden_size": 4, "batch_size": 8},
        data={"few": {"data": str(table), "training": {"epochs": 3, "hidden_size": 5}}},
        models={"mean": {"training": {"model": "additive", "hidden_size": 6, "encoder": "average"}}},
        sweeps={"lowercase": {"training": {"lowercase": [False]}}},
    )
    options = plan(grid)[0].options
    assert [options[name] for name in ("batch_size", "epochs", "hidden_size", "lowercase")] == [8, 3, 6, False]


def test_a_sweep_is_every_combination_for_what_it_matches(table):
    sweeps = {
        "size": {"models": ["lst*"], "training": {"hidden_size": [4, 8], "epochs": [1, 2]}},
        "sample": {"runs": ["ablation"], "options": {"limit": [10, 20]}},
    }
    found = names(small_grid(table, seeds=1, sweeps=sweeps))
    trained = [name for name in found if name.startswith("train")]
    assert trained == ["train mean on few, seed 0"] + [
        f"train lstm hidden_size={size} epochs={epochs} on few, seed 0" for size in (4, 8) for epochs in (1, 2)
    ]
    of_mean = [name for name in found if "of mean" in name]
    assert of_mean == [
        "ablation limit=10 of mean on few, seed 0",
        "ablation limit=20 of mean on few, seed 0",
        "attention of mean on few, seed 0",
    ]


def test_what_is_excluded_is_left_out(table):
    grid = small_grid(table, exclude=[{"model": "lstm", "seed": 1}, {"model": "m*", "run": "ablation"}])
    found = names(grid)
    assert "train lstm on few, seed 0" in found
    assert not [name for name in found if "lstm" in name and "seed 1" in name]
    assert not [name for name in found if name.startswith("ablation of mean")]
    assert "attention of mean on few, seed 1" in found


def test_the_key_is_that_of_the_content(table, tmp_path):
    grid = small_grid(table)
    keys = [task.key for task in plan(grid)]
    assert [task.key for task in plan(grid, data_dir=tmp_path)] == keys  # where, not what
    write_table(table, 11)
    assert not set(keys) & {task.key for task in plan(grid)}


def test_an_option_changes_what_depends_on_it(table):
    grid = small_grid(table)
    runs = {name: run.model_dump() for name, run in grid.runs.items()}
    before, after = plan(grid), plan(small_grid(table, runs={**runs, "ablation": {"options": {"limit": 10}}}))
    assert {t.key for t in before if t.experiment != "ablation"} <= {t.key for t in after}
    assert not {t.key for t in before if t.experiment == "ablation"} & {t.key for t in after}


def test_shards_come_before_their_run(table):
    tasks = plan(small_grid(table, seeds=1, runs={"ablation": {"shards": 3}}))
    shards = [task for task in tasks if task.kind == "shard" and task.about["model"] == "mean"]
    (run,) = [task for task in tasks if task.kind == "run" and task.about["model"] == "mean"]
    assert [shard.shard for shard in shards] == [(0, 3), (1, 3), (2, 3)]
    assert set(run.needs) == {shard.key for shard in shards} | {shards[0].needs[0]}
    assert shards[1].name == "ablation (shard 2 of 3) of mean on few, seed 0"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"models": {"a": {"training": {"model": "additive", "hiden_size": 3}}}}, "hiden_size: additive has no such"),
        ({"models": {"a": {"saved": "./nowhere/at/all"}}}, "there is no folder ./nowhere/at/all"),
        ({"runs": {"ablatoin": {}}}, "ablatoin"),
        ({"runs": {"ablation": {"options": {"limit": 1}}}}, "limit: input should be greater than 1, got 1"),
        ({"data": {"nothing": {}}}, "nothing"),
        ({"exclude": [{"model": "*"}]}, "has no tasks"),
    ],
)
def test_bad_options_are_refused_before_anything_runs(table, changes, sentence):
    with pytest.raises(Exception, match=sentence) as refused:
        plan(small_grid(table, **changes))
    assert type(refused.value).__module__.startswith("whence.")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("name = 1 2", "is not TOML"),
        ("name = 'a'\n[data.reviews]", "models: field required"),
        ("name = 'a'\n[models.b]\n[data.reviews]", "either `training`"),
        ("name = 'a'\n[models.b]\nsaved = 'c'\n[data.reviews]\n[[exclude]]\nmodel = 'd'", "matches none of: b"),
        ("name = 'a'\n[models.b]\nsaved = 'c'\n[data.reviews]\n[sweeps.s]", "a sweep names options"),
        ("name = 'a'\nsede = 3\n[models.b]\nsaved = 'c'\n[data.reviews]", "sede"),
    ],
)
def test_a_bad_file_gets_a_sentence(tmp_path, text, sentence):
    (tmp_path / "study.toml").write_text(text)
    with pytest.raises(BadConfig, match=sentence):
        read_grid(tmp_path / "study.toml")


def test_a_file_that_is_not_there_gets_a_sentence(tmp_path):
    with pytest.raises(BadConfig, match="there is no file"):
        read_grid(tmp_path / "study.toml")
