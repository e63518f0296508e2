"""Training into a folder: once, resumable after kill -9, and never over another model."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch.testing import assert_close

from whence.cli import main
from whence.core.errors import BadConfig, BadData
from whence.core.seeds import stream
from whence.data.examples import Corpus, Example
from whence.data.synthetic import stories
from whence.subject.subject import load
from whence.training import train as module
from whence.training.config import Training
from whence.training.init import init_vectors, untrained
from whence.training.record import RECORD, recorded_training, retrainable, training_seconds
from whence.training.train import train, train_all

SMALL = Training(data="stories", encoder="average", embedding_size=8, hidden_size=8, epochs=2, learning_rate=1e-2)


@pytest.fixture(scope="module")
def corpus():
    return stories.load(sizes={"train": 48, "dev": 16})


def weights(folder):
    return load_file(folder / "model.safetensors")


def test_a_trained_folder_is_complete_and_loads(corpus, tmp_path):
    subject = train(SMALL, tmp_path / "m", corpus=corpus, quiet=True)
    assert {path.name for path in (tmp_path / "m").iterdir()} == {
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
        RECORD,
    }
    again = load(tmp_path / "m")
    assert again.fingerprint == subject.fingerprint
    batch = subject.encode(corpus["dev"])
    assert_close(again.predict(again.encode(corpus["dev"])), subject.predict(batch))
    assert again.labels == corpus.labels
    record = json.loads((tmp_path / "m" / RECORD).read_text())
    assert len(record["dev"]) == len(record["losses"]) == 2
    assert record["best"] == max(record["dev"])
    assert recorded_training(tmp_path / "m") == SMALL
    assert training_seconds(tmp_path / "m") > 0
    assert recorded_training(tmp_path) is None


def test_a_finished_folder_is_not_trained_again(corpus, tmp_path, monkeypatch):
    first = train(SMALL, tmp_path, corpus=corpus, quiet=True)
    monkeypatch.setattr(module, "fit", None)
    assert train(SMALL, tmp_path, corpus=corpus, quiet=True).fingerprint == first.fingerprint


def test_another_model_in_the_same_folder_is_refused(corpus, tmp_path):
    train(SMALL, tmp_path, corpus=corpus, quiet=True)
    before = (tmp_path / "model.safetensors").read_bytes()
    with pytest.raises(
        BadConfig, match=r"holds a model of another training \(these options differ: epochs, seed\); name anoth"
    ):
        train(SMALL.with_options({"seed": 1, "epochs": 3}), tmp_path, corpus=corpus, quiet=True)
    with pytest.raises(BadConfig, match=r"differ: corpus\)"):
        train(SMALL, tmp_path, corpus=stories.load(seed=1, sizes={"train": 48, "dev": 16}), quiet=True)
    assert (tmp_path / "model.safetensors").read_bytes() == before


def test_a_run_that_was_cut_off_is_not_taken_up_with_other_options(corpus, tmp_path, monkeypatch):
    def breaking(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "fit", breaking)
    with pytest.raises(KeyboardInterrupt):
        train(SMALL, tmp_path, corpus=corpus, quiet=True)
    with pytest.raises(BadConfig, match=r"differ: seed\)"):
        train(SMALL.with_options({"seed": 1}), tmp_path, corpus=corpus, quiet=True)


def labelled(*labels):
    return tuple(Example(f"text {number}", label=label) for number, label in enumerate(labels))


@pytest.mark.parametrize(
    ("splits", "labels", "complaint"),
    [
        (
            {"train": labelled("a", "a"), "dev": labelled("a")},
            ("a",),
            r"has one class only \(a\); expected two or more",
        ),
        ({"train": labelled("a", "a"), "dev": labelled("b")}, ("a", "b"), r"has one class only \(a\)"),
        (
            {"train": labelled("a", None), "dev": labelled("b")},
            ("a", "b"),
            r"examples without a label in train \(row 2 of it",
        ),
        ({"train": labelled("a", "b"), "dev": labelled("b", None)}, ("a", "b"), "examples without a label in dev"),
        ({"train": labelled("a", "b")}, ("a", "b"), "has the splits train; training needs train and dev"),
        ({"dev": labelled("a", "b")}, ("a", "b"), "has the splits dev; training needs train and dev"),
    ],
)
def test_a_corpus_that_cannot_be_learned_from_leaves_nothing_behind(splits, labels, complaint, tmp_path):
    with pytest.raises(BadData, match=complaint):
        train(SMALL, tmp_path / "m", corpus=Corpus("mine", splits, labels), quiet=True)
    assert not (tmp_path / "m").exists()


def test_seeds_begin_and_end_elsewhere(corpus):
    one, same = untrained(SMALL, corpus), untrained(SMALL, corpus)
    other = untrained(SMALL.with_options({"seed": 1}), corpus)
    assert one.fingerprint == same.fingerprint != other.fingerprint


def test_altered_training_is_another_model_of_the_same_key(corpus, tmp_path):
    altered = SMALL.with_options({"override": "uniform", "seed": 3})
    assert altered.key_across_seeds(corpus) == SMALL.key_across_seeds(corpus)
    assert altered.cache_key(corpus) != SMALL.cache_key(corpus)
    assert SMALL.with_options({"hidden_size": 9}).key_across_seeds(corpus) != SMALL.key_across_seeds(corpus)
    subject = train(SMALL.with_options({"override": "uniform"}), tmp_path, corpus=corpus, quiet=True)
    before = untrained(SMALL, corpus).model.state_dict()
    spared = {n: t for n, t in subject.model.state_dict().items() if n.startswith("score.")}
    assert_close(
        spared, {name: before[name] for name in spared}
    )  # attention that is uniform teaches its scores nothing


# word vectors


def test_known_words_get_their_vectors_and_padding_stays_zero(corpus, tmp_path):
    known = {"clara": [1.0, 2.0, 3.0], "the": [-1.0, 0.5, 0.25], "notinstories": [9.0, 9.0, 9.0]}
    file = tmp_path / "vectors.txt"
    file.write_text("".join(f"{word} {' '.join(map(str, numbers))}\n" for word, numbers in known.items()))
    words = {word for example in corpus["train"] for word in example.words}
    found = {word: numbers for word, numbers in known.items() if word in words}
    assert "the" in found
    subject = untrained(SMALL.with_options({"vectors": file}), corpus)
    table, numbers = subject.model.embeddings.weight.detach(), subject.tokenizer.get_vocab()
    assert subject.model.config.embedding_size == table.shape[1] == 3
    for word, vector in found.items():
        assert table[numbers[word]].tolist() == vector
    assert not table[0].any()
    unknown = [number for word, number in numbers.items() if word not in found and number]
    assert len({tuple(table[number].tolist()) for number in unknown}) == len(unknown)
    again = untrained(SMALL.with_options({"vectors": file}), corpus)
    assert_close(again.model.embeddings.weight.detach(), table)


def test_words_without_a_vector_are_drawn_from_the_same_mean_and_spread():
    table = torch.zeros(4002, 5)
    numbers = {"<pad>": 0, "known": 1, **{f"w{n}": n for n in range(2, 4002)}}
    found = {"known": np.array([3.0, 5.0, 3.0, 5.0, 4.0], dtype=np.float32)}
    init_vectors(table, numbers, found, stream(0, "test"))
    assert table[1].tolist() == [3.0, 5.0, 3.0, 5.0, 4.0]
    assert float(table[2:].mean()) == pytest.approx(4.0, abs=0.03)
    assert float(table[2:].std()) == pytest.approx(1.0, abs=0.03)  # of those five numbers


def test_vectors_of_another_language_are_refused(corpus, tmp_path):
    (tmp_path / "vectors.txt").write_text("zzz 1 2\n")
    with pytest.raises(BadData, match=r"none of the corpus's words is in .*vectors.txt; expected vectors for its lang"):
        train(SMALL.with_options({"vectors": tmp_path / "vectors.txt"}), tmp_path / "m", corpus=corpus, quiet=True)
    assert not (tmp_path / "m").exists()


# many at once, and killed


def test_side_by_side_is_as_one_by_one(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr("whence.training.train.processors", lambda: 2)
    each = [SMALL.with_options({"seed": seed, "epochs": 1}) for seed in (0, 1, 2)]
    train(each[0], tmp_path / "side 0", corpus=corpus, quiet=True)
    made = (tmp_path / "side 0" / "model.safetensors").stat().st_mtime_ns
    train_all([(one, tmp_path / f"side {one.seed}", corpus) for one in each], quiet=True)
    assert (tmp_path / "side 0" / "model.safetensors").stat().st_mtime_ns == made  # finished already
    for one in each[1:]:
        train(one, tmp_path / f"alone {one.seed}", corpus=corpus, quiet=True)
        assert_close(weights(tmp_path / f"side {one.seed}"), weights(tmp_path / f"alone {one.seed}"), atol=1e-6, rtol=0)


def as_table(corpus, path):
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "label", "split"])
        for split, examples in corpus.splits.items():
            rows.writerows([f"{e.text} {e.pair}", e.label, split] for e in examples)


def test_killed_and_run_again_is_as_never_killed(corpus, tmp_path):
    table = tmp_path / "table.csv"
    as_table(corpus, table)
    options = [
        f"--data={table}",
        "--embedding-size=8",
        "--hidden-size=8",
        "--epochs=30",
        "--patience=30",
        "--learning-rate=0.003",
        "--quiet",
    ]
    arguments = ["train", "additive", *options, f"--out={tmp_path / 'killed'}"]
    script = f"import torch; torch.set_num_threads(1); from whence.cli import main; main({arguments!r})"
    running = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.DEVNULL, env={**os.environ})
    until = time.monotonic() + 60
    while not (tmp_path / "killed" / "checkpoint.pt").exists():
        assert running.poll() is None, "it ended before its first checkpoint"
        assert time.monotonic() < until, "no checkpoint within a minute"
        time.sleep(0.01)
    time.sleep(0.05)
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert not (tmp_path / "killed" / RECORD).exists()
    reached = torch.load(tmp_path / "killed" / "checkpoint.pt", weights_only=True)["progress"]["epoch"]
    assert 1 <= reached < 30
    for folder in ("killed", "whole"):
        with pytest.raises(SystemExit, match=r"^0$"):
            main([*arguments[:-1], f"--out={tmp_path / folder}"])
    assert_close(weights(tmp_path / "killed"), weights(tmp_path / "whole"), atol=1e-6, rtol=0)
    both = [json.loads((tmp_path / folder / RECORD).read_text()) for folder in ("killed", "whole")]
    assert both[0]["losses"] == pytest.approx(both[1]["losses"], abs=1e-6)
    assert both[0]["dev"] == both[1]["dev"]
    assert sorted(p.name for p in (tmp_path / "killed").iterdir()) == sorted(
        p.name for p in (tmp_path / "whole").iterdir()
    )


def test_a_record_that_is_somebody_elses_is_none(tmp_path):
    for content in ("[]", "{}", '{"cache_key": 1}', "not json", '{"cache_key": {}, "training": {"nope": 1}}'):
        (tmp_path / RECORD).write_text(content)
        assert recorded_training(tmp_path) is None
        assert retrainable(tmp_path, stories.load(sizes={"train": 4})) == (None, "")


def test_a_model_is_trained_again_on_its_own_corpus_alone(corpus, tmp_path, monkeypatch):
    (tmp_path / "vectors.txt").write_text("where 1 0\nis 0 1\n")
    monkeypatch.chdir(tmp_path)
    begun = SMALL.with_options({"vectors": Path("vectors.txt"), "epochs": 1})
    train(begun, tmp_path / "m", corpus=corpus, quiet=True)
    monkeypatch.chdir("/")  # elsewhere
    training, why_not = retrainable(tmp_path / "m", corpus)
    assert (training and training.vectors, why_not) == (tmp_path / "vectors.txt", "")
    other = stories.load(seed=1, sizes={"train": 48, "dev": 16})
    assert retrainable(tmp_path / "m", other) == (None, "the model was trained on other examples than those of stories")
    tests = Corpus("mine", {"test": corpus["dev"]}, corpus.labels)
    assert retrainable(tmp_path / "m", tests) == (None, "mine has no splits train and dev")
    (tmp_path / "vectors.txt").unlink()
    assert "are not available any more" in retrainable(tmp_path / "m", corpus)[1]


@pytest.mark.parametrize("options", [{"bypass": True}, {"model": "conditional"}])
def test_what_is_for_pairs_says_so_where_there_are_none(options):
    texts = tuple(Example(f"text {n}", "ab"[n % 2]) for n in range(4))
    with pytest.raises(BadConfig, match="is for corpora of pairs; mine has single texts"):
        untrained(Training(**options), Corpus("mine", {"train": texts}, ("a", "b")))
