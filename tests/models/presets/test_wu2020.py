"""The three modes of Wu et al. 2020's model: what they say, and a step of training in each."""

import json

import pytest
import torch
from torch.testing import assert_close

from whence.cli import main
from whence.core.errors import BadConfig
from whence.data.examples import Corpus, Example
from whence.data.synthetic import reviews
from whence.models import PooledForSequenceClassification, PooledForTimeSeries, pooled
from whence.models.presets.wu2020 import MODES, PRESETS
from whence.reference_model import BuildInputs
from whence.subject.subject import load
from whence.training.config import Training, training_for
from whence.training.fit import fit, loss_of
from whence.training.init import untrained, vocabulary
from whence.training.recipe import Recipe
from whence.training.train import train

SMALL = {"embedding_size": 8, "hidden_size": 12, "layers": 2, "heads": 2, "head_size": 4, "epochs": 1, "batch_size": 20}


@pytest.fixture(scope="module")
def corpus():
    return reviews.load(sizes={"train": 40, "dev": 12, "test": 12})


@pytest.mark.parametrize("mode", MODES)
def test_a_modes_options_hold_where_nothing_is_said(mode):
    training = Training(model="pooled", mode=mode)
    assert {**MODES[mode], **PRESETS, "mode": mode}.items() <= training.flat().items()
    assert Training(model="pooled", mode=mode, norm="pre", layers=2).flat()["norm"] == "pre"


def test_what_each_mode_reads():
    """Wu et al. 2020 §2, §5.1, and what its authors' code did."""
    paper, code, corrected = (Training(model="pooled", mode=mode) for mode in ("paper", "author-code", "corrected"))
    options = [t.flat() for t in (paper, code, corrected)]
    assert [(o["positions"], o["norm"], o["loss"], o["dropout_epochs"]) for o in options] == [
        ("sinusoidal", "post", "cross_entropy", 0),
        ("none", "query", "binary", 1),
        ("none", "pre", "cross_entropy", 0),
    ]
    assert Training(model="pooled") == corrected
    assert (code.batch_size, code.learning_rate, code.weight_decay, code.epochs) == (500, 1e-4, 1e-4, 300)
    sizes = {"layers": 6, "heads": 8, "head_size": 64, "hidden_size": 300, "inner_size": 64}
    assert sizes.items() <= code.flat().items()


@pytest.mark.parametrize("mode", MODES)
def test_a_step_of_training_in_each_mode(mode, corpus, tmp_path):
    training = Training(model="pooled", mode=mode, **SMALL, learning_rate=1e-2)
    begun, subject = untrained(training, corpus), train(training, tmp_path / "m", corpus=corpus, quiet=True)
    config = subject.model.config
    assert isinstance(subject.model, PooledForSequenceClassification)
    assert {"positions": config.positions, "norm": config.norm, "loss": config.loss}.items() <= MODES[mode].items()
    assert begun.fingerprint != subject.fingerprint
    again, batch = load(tmp_path / "m"), subject.encode(corpus["test"])
    assert_close(again.predict(batch), subject.predict(batch))
    probs = subject.predict(batch)
    assert torch.isfinite(probs).all()
    assert_close(probs.sum(-1), torch.ones(12, 1))
    with pytest.raises(BadConfig, match=r"another training \(these options differ: .*mode"):
        train(
            Training(model="pooled", mode="paper" if mode != "paper" else "author-code", **SMALL, learning_rate=1e-2),
            tmp_path / "m",
            corpus=corpus,
            quiet=True,
        )


def test_yes_and_no_are_learned_by_their_own_loss(corpus):
    subject = untrained(Training(model="pooled", mode="author-code", **SMALL), corpus)
    batch = subject.encode(corpus["dev"])
    sigmoids, gold = subject.logits(batch).exp()[:, 0].double(), batch.labels[:, 0]
    right = torch.nn.functional.one_hot(gold, sigmoids.shape[-1])
    by_hand = -torch.where(right == 1, sigmoids.log(), (1 - sigmoids).log()).sum()
    assert_close(loss_of(subject, batch).double(), by_hand, atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize(
    ("epochs", "on"), [(0, [True, True, True]), (1, [True, False, False]), (2, [True, True, False])]
)
def test_dropout_ends_after_so_many_epochs(epochs, on, corpus):
    subject = untrained(Training(model="pooled", **SMALL), corpus)
    seen = []
    subject.model.register_forward_pre_hook(lambda module, _: seen.append(module.training))
    fit(subject, corpus["train"], corpus["dev"], Recipe(3, 40, patience=9, dropout_epochs=epochs), quiet=True)
    assert seen == [part for one in on for part in (one, False)]  # one batch to learn from, one of dev


def test_given_vectors_stay_as_they_are_and_those_of_all_splits_are_known(corpus, tmp_path):
    words = sorted({word for split in corpus.splits for example in corpus[split] for word in example.words})
    train_words = {word for example in corpus["train"] for word in example.words}
    file = tmp_path / "v.txt"
    file.write_text("".join(f"{word} {number}.0 0.5 -1\n" for number, word in enumerate(words)))
    training = Training(model="pooled", **{**SMALL, "embedding_size": 300}, vectors=file, learning_rate=1e-2)
    begun, subject = untrained(training, corpus), train(training, tmp_path / "m", corpus=corpus, quiet=True)
    numbers = subject.tokenizer.get_vocab()
    assert set(words) <= set(numbers)
    assert set(words) - train_words  # some are in the other splits alone
    assert subject.model.project.weight.shape == (12, 3)  # narrower vectors are projected
    assert_close(subject.model.embeddings.weight, begun.model.embeddings.weight, atol=0.0, rtol=0.0)
    assert subject.model.embeddings.weight[numbers[words[7]]].tolist() == [7.0, 0.5, -1.0]
    learning = train(training.with_options({"freeze": False}), tmp_path / "n", corpus=corpus, quiet=True)
    assert set(learning.tokenizer.get_vocab()) - {"<pad>", "<unk>", "<s>", "</s>"} == train_words
    assert not torch.equal(learning.model.embeddings.weight[numbers["."]], begun.model.embeddings.weight[numbers["."]])


def test_windows_make_the_form_for_series():
    narrative = Example("glad sad glad", words=("glad", "sad", "glad"))
    made, training = Corpus("mine", {"train": (narrative,)}), Training(model="pooled", **SMALL)
    tokenizer = vocabulary(training, made["train"], "series")
    model = pooled.build(training.options, BuildInputs(tokenizer, made, "series"))
    assert isinstance(model, PooledForTimeSeries)
    assert model.lstm.hidden_size == 12


def test_a_cache_key_holds_the_shared_options_and_the_models_own(corpus):
    key = Training().cache_key(corpus)
    assert key["schema"] == 3
    assert "mode" not in key
    assert Training(dropout_epochs=2).cache_key(corpus) == {**key, "dropout_epochs": 2}
    assert Training(encoder="cnn").cache_key(corpus) == {**key, "encoder": "cnn"}
    assert Training(model="pooled").cache_key(corpus)["mode"] == "corrected"


def test_a_mode_on_the_command_line(tmp_path, capsys):
    options = [f"--{name.replace('_', '-')}={value}" for name, value in SMALL.items()]
    for mode in (["--mode", "author-code"], ["--mode=author-code"]):
        out = tmp_path / str(len(mode))
        with pytest.raises(SystemExit, match=r"^0$"):
            main(["train", "pooled", *mode, *options, "--limit=40", f"--out={out}", "--quiet", "--seed=1"])
        record = json.loads((out / "training.json").read_text())["training"]
        assert {name: record[name] for name in MODES["author-code"]} == MODES["author-code"]
    assert "% right on test" in capsys.readouterr().out


def test_a_mode_of_another_model_is_refused():
    with pytest.raises(BadConfig, match=r"^mode: additive has no such option; it has: attention, "):
        training_for("additive", mode="paper")
