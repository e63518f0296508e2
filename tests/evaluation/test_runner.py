"""Running an experiment: stored once, the same bytes for the same seed, every task, and refusals."""

import csv
import shutil
from dataclasses import replace

import pytest

from support import saved_models
from whence.core.errors import BadConfig, BadData
from whence.data.examples import Corpus, Example
from whence.data.tables.reader import Columns
from whence.evaluation.chosen_examples import choose, split_of
from whence.evaluation.config import ExperimentConfig
from whence.evaluation.runner import run_experiment
from whence.experiments import permutation
from whence.results.errors import CannotSave
from whence.results.experiment import about, experiment, names
from whence.results.store import Store, table_bytes

SHORT = {"ablation": {"draws": 2, "limit": 6}, "permutation": {"permutations": 3, "limit": 6}}


def config(name: str, model=saved_models.bert, data=saved_models.labelled, **options) -> ExperimentConfig:
    return experiment(name).config(model=str(model()), data=str(data()), **{**SHORT[name], **options})


@pytest.mark.parametrize("name", SHORT)
def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(name, tmp_path):
    one, two = Store(tmp_path / "one"), Store(tmp_path / "two")
    config_, others = config(name, draws=3) if name == "ablation" else config(name), []
    first = run_experiment(name, config_, one, quiet=True)
    run_experiment(name, config_, two, quiet=True)
    tables = [path.read_bytes() for path in sorted(tmp_path.glob("*/results/*/*/table.parquet"))]
    assert len(tables) == 2
    assert tables[0] == tables[1] == table_bytes(first.table)
    others = [run_experiment(name, config(name, seed=seed, limit=15), quiet=True).table for seed in (0, 1)]
    assert others[0]["example"].tolist() != others[1]["example"].tolist()


def test_shuffles_follow_the_seed():
    options = {"limit": None, "data": lambda: saved_models.labelled(8)}
    changes = [
        run_experiment("permutation", config("permutation", seed=seed, **options), quiet=True).table for seed in (0, 1)
    ]
    assert changes[0]["max_weight"].tolist() == pytest.approx(changes[1]["max_weight"].tolist())
    assert changes[0]["median_tvd"].tolist() != changes[1]["median_tvd"].tolist()


def test_what_is_in_the_store_is_not_run_again(tmp_path, monkeypatch):
    runs, run = [], permutation.run

    def noted(*arguments):
        runs.append(1)
        return run(*arguments)

    counted = replace(permutation.EXPERIMENT, run=noted)
    monkeypatch.setattr(permutation, "EXPERIMENT", counted)
    store = Store(tmp_path)
    first = run_experiment("permutation", config("permutation"), store, quiet=True)
    again = run_experiment("permutation", config("permutation"), store, quiet=True)
    assert len(runs) == 1
    assert again.table.equals(first.table)
    assert again.manifest["made"] == first.manifest["made"]
    run_experiment("permutation", config("permutation", permutations=4), store, quiet=True)
    assert len(runs) == 2


def test_a_model_and_a_table_are_known_by_their_contents(tmp_path):
    """The same rows under another name, the same model in another folder: the same result."""
    store = Store(tmp_path / "out")
    run_experiment("permutation", config("permutation"), store, quiet=True)
    shutil.copy(saved_models.labelled(), tmp_path / "elsewhere.csv")
    shutil.copytree(saved_models.bert(), tmp_path / "elsewhere")
    moved = config("permutation", lambda: tmp_path / "elsewhere", lambda: tmp_path / "elsewhere.csv")
    run_experiment("permutation", moved, store, quiet=True)
    assert len(store.all()) == 1


def test_a_limit_draws_the_same_examples_for_every_experiment():
    drawn = [run_experiment(name, config(name), quiet=True).table["example"].unique().tolist() for name in SHORT]
    assert drawn[0] == drawn[1] == sorted(drawn[0])
    assert len(drawn[0]) == 6
    assert drawn[0] != list(range(6))


def test_the_split_is_test_or_the_only_one_or_the_one_named():
    some = tuple(Example(f"text {number}", "a") for number in range(4))
    wide = Corpus("c", {"train": some, "test": some[:3], "none": ()})
    narrow = Corpus("c", {"mine": some})
    assert choose(wide, ExperimentConfig(model="m", data="d")) == ("test", [0, 1, 2])
    assert choose(narrow, ExperimentConfig(model="m", data="d")) == ("mine", [0, 1, 2, 3])
    assert choose(wide, ExperimentConfig(model="m", data="d", split="train", limit=9)) == ("train", [0, 1, 2, 3])
    with pytest.raises(BadData, match="the split 'none' of c is empty"):
        choose(wide, ExperimentConfig(model="m", data="d", split="none"))
    with pytest.raises(BadData, match="c has no split 'dev'; it has: train, test, none"):
        choose(wide, ExperimentConfig(model="m", data="d", split="dev"))


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize(
    ("model", "data", "columns", "task"),
    [
        (saved_models.tagger, saved_models.tagged, Columns(), "token-classification"),
        (saved_models.translator, saved_models.translated, Columns(target="said"), "seq2seq"),
        (saved_models.speaker, saved_models.bare, Columns(), "causal-lm"),
        (saved_models.additive, saved_models.labelled, Columns(), "sequence-classification"),
    ],
)
def test_every_task_goes_through(name, model, data, columns, task):
    result = run_experiment(name, config(name, model, data, columns=columns), quiet=True)
    assert result.manifest["subject"]["task"] == task
    assert len(set(result.table["example"])) == 6
    verdict = experiment(name).verdict(result.table)
    assert (verdict.question, verdict.answer in ("yes", "no", "undecided")) == (1, True)
    assert experiment(name).figure(result.table).axes


def test_without_labels_permutation_runs_and_ablation_says_what_it_needs():
    result = run_experiment("permutation", config("permutation", data=saved_models.bare), quiet=True)
    assert set(result.table["label"]) == {""}
    with pytest.raises(BadData, match=r"without label, which a model for .* predicts, and ablation needs it: 30 of 30"):
        run_experiment("ablation", config("ablation", data=saved_models.bare), quiet=True)


def test_one_class_is_refused_by_what_counts_right_answers(tmp_path):
    rows: list[dict[str, object]] = [{"text": f"the plot is dull {number}", "label": "negative"} for number in range(8)]
    data = saved_models.table(tmp_path / "one.csv", rows)
    with pytest.raises(BadData, match=r"has one class only \(negative\); expected at least two"):
        run_experiment("ablation", config("ablation", data=lambda: data), quiet=True)
    run_experiment("permutation", config("permutation", data=lambda: data), quiet=True)


def test_a_draw_of_one_class_from_a_table_of_two_is_no_mistake_of_the_users(tmp_path):
    rows: list[dict[str, object]] = [
        {"text": f"the plot is dull {number}", "label": "negative"} for number in range(30)
    ]
    data = saved_models.table(tmp_path / "rare.csv", [*rows, {"text": "i found it great", "label": "positive"}])
    result = run_experiment("ablation", config("ablation", data=lambda: data, limit=2), quiet=True)
    assert len(result.table) == 6


@pytest.mark.parametrize("name", SHORT)
def test_a_label_unknown_to_the_model_is_refused_wherever_it_stands(name, tmp_path):
    rows: list[dict[str, object]] = [
        {"text": f"the plot is dull {n}", "label": ("negative", "positive")[n % 2]} for n in range(30)
    ]
    data = saved_models.table(tmp_path / "odd.csv", [*rows, {"text": "so so", "label": "mixed"}])
    with pytest.raises(BadData, match=r"'mixed' is unknown to the model, whose labels are: negative, positive"):
        run_experiment(name, config(name, data=lambda: data, limit=2), quiet=True)


def test_long_texts_are_cut_and_the_manifest_says_so(tmp_path):
    rows = [{"text": "dull " * length, "label": label} for length, label in ((100, "negative"), (3, "positive"))]
    data = saved_models.table(tmp_path / "long.csv", rows)
    result = run_experiment("permutation", config("permutation", data=lambda: data), quiet=True)
    assert "1 of 2 texts were longer than the model's 64 tokens and were cut there" in result.manifest["notes"]


def test_a_folder_that_cannot_be_written_is_noticed_before_the_run(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("mine")
    refused = replace(permutation.EXPERIMENT, run=lambda *_: pytest.fail("run for nothing"))
    monkeypatch.setattr(permutation, "EXPERIMENT", refused)
    for root in (tmp_path / "file" / "out", "/proc/whence"):
        with pytest.raises(CannotSave, match="could not write in"):
            run_experiment("permutation", config("permutation"), Store(root), quiet=True)


SCRIPT = """
from dataclasses import replace
from whence.experiments import permutation
EXPERIMENT = replace(permutation.EXPERIMENT, about="Mine?")
NOTHING = permutation.run
"""


def test_an_experiment_of_a_script_runs_and_is_cached(tmp_path, monkeypatch):
    (tmp_path / "mine_by_script.py").write_text(SCRIPT)
    monkeypatch.syspath_prepend(str(tmp_path))
    store, name = Store(tmp_path / "out"), "mine_by_script:EXPERIMENT"
    first = run_experiment(name, config("permutation"), store, quiet=True)
    assert first.experiment == name
    assert first.table.equals(run_experiment("permutation", config("permutation"), quiet=True).table)
    assert [one.experiment for one in store.all()] == [name]
    again = run_experiment(name, config("permutation"), store, quiet=True)
    assert again.manifest["made"] == first.manifest["made"]


def test_what_is_no_experiment_is_refused(tmp_path, monkeypatch):
    (tmp_path / "mine_refused.py").write_text(SCRIPT)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(BadConfig, match=r"mine_refused:NOTHING .* expected an Experiment"):
        run_experiment("mine_refused:NOTHING", config("permutation"), quiet=True)


def test_results_of_another_schema_are_not_taken(tmp_path, monkeypatch):
    store = Store(tmp_path)
    run_experiment("permutation", config("permutation"), store, quiet=True)
    monkeypatch.setattr("whence.evaluation.runner.SCHEMA", 99)
    run_experiment("permutation", config("permutation"), store, quiet=True)
    assert sorted(one.manifest["cache_key"]["schema"] for one in store.all()) == [3, 99]


def test_experiments_are_found_by_name():
    assert {"ablation", "permutation"} <= set(names())
    assert about("permutation") == "Does shuffling attention move the prediction?"
    with pytest.raises(BadConfig, match=r"no experiment 'ablate' \(did you mean ablation\?\); choose from: abl"):
        experiment("ablate")


def test_what_was_learned_is_not_looked_at_by_chance():
    some = (Example("a text", "a"), Example("another", "b"))
    assert split_of(Corpus("c", {"train": some, "dev": some}), ExperimentConfig(model="m", data="d")) == "dev"
    assert (
        split_of(Corpus("c", {"dev": some, "test": some}), ExperimentConfig(model="m", data="d", split="validation"))
        == "dev"
    )
    with pytest.raises(BadData, match=r"c has the splits train, more, and none is called test; name one \(--split\)"):
        split_of(Corpus("c", {"train": some, "more": some}), ExperimentConfig(model="m", data="d"))


def numbered(folder, **changed) -> str:
    """The labelled table with 0 and 1 in the place of its labels, and its columns renamed."""
    rows = list(csv.DictReader(saved_models.labelled().read_text(encoding="utf-8").splitlines()))
    names = [changed.get(name, name) for name in rows[0]]
    cells = [[str(saved_models.LABELS.index(v)) if k == "label" else v for k, v in row.items()] for row in rows]
    path = folder / f"{'-'.join(names)}.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *cells])
    return str(path)


def test_labels_that_are_numbers_are_read_as_the_models_classes_and_that_is_said(tmp_path):
    by_name = run_experiment("permutation", config("permutation"), quiet=True)
    by_number = run_experiment("permutation", config("permutation", data=lambda: numbered(tmp_path)), quiet=True)
    assert by_number.table.equals(by_name.table)
    assert set(by_number.table["label"]) <= set(saved_models.LABELS)
    said = "the labels are numbers; they were read as the numbers of the model's classes: 0 is negative, 1 is positive"
    assert said in by_number.manifest["notes"]
    assert not any("numbers" in note for note in by_name.manifest["notes"])


def test_a_saved_result_has_the_notes_of_this_run_and_not_of_the_one_that_made_it(tmp_path):
    store, renamed = Store(tmp_path / "out"), numbered(tmp_path, text="verdict")
    named = {"columns": Columns(text="verdict", label="label")}
    first = run_experiment("permutation", config("permutation", data=lambda: numbered(tmp_path)), store, quiet=True)
    again = run_experiment("permutation", config("permutation", data=lambda: renamed, **named), store, quiet=True)
    assert again.manifest["made"] == first.manifest["made"]
    assert "took column 'text' as the text" in first.manifest["notes"]
    assert again.manifest["notes"] == [note for note in first.manifest["notes"] if not note.startswith("took column")]
    assert len(again.manifest["notes"]) == 1  # that labels are numbers


def test_an_empty_label_names_its_row(tmp_path):
    path = tmp_path / "reviews.csv"
    rows = ["the plot is dull,negative", "the cast is superb,positive", "so so, ", "it is great,positive"]
    path.write_text("\n".join(["text,label", *rows]), encoding="utf-8")
    with pytest.raises(BadData, match=r"without label.*1 of 4 in this split \(row 3, counted from 1\); fill or remove"):
        run_experiment("ablation", config("ablation", data=lambda: path), quiet=True)


def test_a_large_table_is_sampled_as_a_small_one_is(tmp_path, monkeypatch):
    whole = run_experiment("permutation", config("permutation"), quiet=True)
    monkeypatch.setattr("whence.data.tables.sampled.LARGE", 10)
    part = run_experiment("permutation", config("permutation"), quiet=True)
    assert part.table.equals(whole.table)
    n = len(saved_models.labelled().read_text(encoding="utf-8").splitlines()) - 1
    assert f"read 6 of the {n} rows of test; the others were not looked at" in part.manifest["notes"]
