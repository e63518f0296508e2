import sys

import datasets
import pytest

from whence.core.errors import BadData
from whence.data.registry import load
from whence.data.tables.hub import read_hub
from whence.data.tables.reader import Columns


def saved(tmp_path, **splits: datasets.Dataset) -> str:
    folder = str(tmp_path / "saved")
    datasets.DatasetDict(splits).save_to_disk(folder)
    return folder


@pytest.fixture(autouse=True, scope="module")
def quiet():
    datasets.disable_progress_bars()
    yield
    datasets.enable_progress_bars()


def made(rows: dict, **features: object) -> datasets.Dataset:
    return datasets.Dataset.from_dict(rows, features=datasets.Features(features))


def test_classes_are_named_and_splits_kept(tmp_path):
    features = {"sentence": datasets.Value("string"), "label": datasets.ClassLabel(names=["bad", "good"])}
    train = made({"sentence": ["a b", "c"], "label": [1, 0]}, **features)
    hidden = made({"sentence": ["d"], "label": [-1]}, **features)
    corpus = load(f"hub:{saved(tmp_path, train=train, test=hidden)}")
    assert [(e.text, e.label) for e in corpus["train"]] == [("a b", "good"), ("c", "bad")]
    assert corpus["test"][0].label is None
    assert corpus.labels == ("bad", "good")
    assert "took column 'sentence' as the text" in corpus.notes
    assert "1 of 3 rows have no label (row 3, header not counted); they are kept without one" in corpus.notes


def test_tags_are_named(tmp_path):
    tags = datasets.List(datasets.ClassLabel(names=["O", "PER"]))
    data = made(
        {"tokens": [["Ann", "ran"]], "ner_tags": [[1, 0]]},
        tokens=datasets.List(datasets.Value("string")),
        ner_tags=tags,
    )
    corpus = read_hub(saved(tmp_path, validation=data))
    assert corpus["dev"][0].tags == ("PER", "O")
    assert corpus["dev"][0].words == ("Ann", "ran")


def test_a_single_dataset_is_one_split(tmp_path):
    datasets.Dataset.from_dict({"a": ["x y"], "b": ["u"]}).save_to_disk(str(tmp_path / "one"))
    corpus = read_hub(f"hub:{tmp_path / 'one'}", Columns(text="a", label="b"))
    assert [(e.text, e.label) for e in corpus["test"]] == [("x y", "u")]


def test_no_network_is_said_in_a_sentence():
    with pytest.raises(BadData, match=r"'nobody/no-such-set' could not be loaded .*network"):
        load("hub:nobody/no-such-set")


def test_a_folder_that_is_no_dataset_is_said(tmp_path):
    with pytest.raises(BadData, match="could not be loaded"):
        read_hub(str(tmp_path))


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(BadData, match=r"pip install 'whence\[hub\]'"):
        read_hub("hub:imdb")


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("imdb", [("imdb",)]),
        ("glue/sst2", [("glue/sst2",), ("glue", "sst2")]),
        ("nyu-mll/glue/sst2", [("nyu-mll/glue", "sst2")]),
    ],
)
def test_what_follows_the_last_slash_may_be_a_configuration(monkeypatch, name, calls):
    made_calls = []

    def load_dataset(*args: str) -> datasets.DatasetDict:
        made_calls.append(args)
        if args == ("glue/sst2",):
            raise datasets.exceptions.DatasetNotFoundError("not there")
        return datasets.DatasetDict(train=datasets.Dataset.from_dict({"text": ["a"], "label": [1]}))

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    assert read_hub(name)["train"][0].text == "a"
    assert made_calls == calls
