"""Beginning: every reference model on the corpora it is for, fine-tuning, and what is refused."""

import json

import pytest
import torch
from torch.testing import assert_close

from support import saved_models
from whence.core.errors import BadConfig, BadData, CannotLoad
from whence.core.model_sites import sites
from whence.data.synthetic import entailment, narratives, numerals, reviews, stories
from whence.models.hierarchical import sentence_ends
from whence.reference_model import REFERENCE_MODELS
from whence.subject.subject import load
from whence.training.config import Training, training_for
from whence.training.init import untrained
from whence.training.train import sample, train
from whence.training.vocabulary import subword_tokenizer, word_tokenizer

SIZES = {"sizes": {"train": 60, "dev": 12, "test": 12}}
TINY = {"hidden_size": 8, "epochs": 1, "learning_rate": 1e-2}
CORPORA = {
    "reviews": reviews,
    "stories": stories,
    "entailment": entailment,
    "numerals": numerals,
    "narratives": narratives,
}
# fmt: off
POOLED = {"mode": "corrected", "hidden_size": 300, "layers": 6, "heads": 8, "dropout": 0.1, "freeze": True,
          "batch_size": 500, "epochs": 300, "patience": 20, "optimizer": "adam", "learning_rate": 1e-4,
          "weight_decay": 1e-4}
DEFAULTS: dict[str, dict[str, object]] = {
    "additive": {"encoder": "lstm", "attention": "additive", "embedding_size": 300, "hidden_size": 128, "epochs": 8,
                 "patience": 3, "batch_size": 32, "learning_rate": 1e-3, "weight_decay": 1e-5, "optimizer": "amsgrad",
                 "schedule": "constant", "clip": 0.0},
    "conditional": {"attention": "additive", "embedding_size": 300, "hidden_size": 128, "epochs": 8, "patience": 3},
    "hierarchical": {"hidden_size": 50, "embedding_size": 200, "dropout": 0.0, "epochs": 15, "patience": 5,
                     "clip": 10.0},
    "disan": {"hidden_size": 300, "dropout": 0.25, "batch_size": 64, "epochs": 46, "patience": 10,
              "optimizer": "adadelta", "learning_rate": 0.5, "weight_decay": 5e-5},
    "recurrent": {"embedding_size": 256, "hidden_size": 256, "layers": 2, "dropout": 0.3, "batch_size": 64,
                  "epochs": 20, "clip": 1.0, "weight_decay": 0.0},
    "transformer": {"hidden_size": 256, "layers": 3, "heads": 4, "dropout": 0.1, "batch_size": 64, "epochs": 20,
                    "clip": 1.0, "learning_rate": 5e-4, "schedule": "linear", "optimizer": "adamw",
                    "weight_decay": 1e-4, "norm": "pre", "form": "vaswani", "freeze": False},
    "weighted": {"batch_size": 64, "epochs": 20, "hidden_size": 128, "heads": 4, "dropout": 0.0},
    "reader": {"encoder": "lstm", "attention": "none", "embedding_size": 64, "hidden_size": 64, "epochs": 30,
               "patience": 5, "clip": 1.0},
    "pooled": POOLED,
    "pooled_series": POOLED | {"batch_size": 25},
    "some/saved-model": {"epochs": 3, "learning_rate": 5e-5, "schedule": "linear", "optimizer": "adamw",
                         "weight_decay": 0.01, "clip": 1.0},
}
# fmt: on
FITTING = {
    "additive": "reviews",
    "conditional": "entailment",
    "hierarchical": "reviews",
    "recurrent": "numerals",
    "transformer": "numerals",
    "pooled": "reviews",
    "pooled_series": "narratives",
}


def corpus(name):
    return CORPORA[name].load(**(SIZES if name != "narratives" else {"sizes": {"train": 9, "dev": 3, "test": 3}}))


@pytest.mark.parametrize(("model", "data"), [*FITTING.items(), ("transformer", "reviews"), ("additive", "stories")])
def test_every_model_is_trained_saved_and_loaded(model, data, tmp_path):
    training = Training(model=model, data=data, **TINY)
    subject = train(training, tmp_path / "m", corpus=corpus(data), quiet=True)
    again, batch = load(tmp_path / "m"), subject.encode(corpus(data)["test"])
    task = {"numerals": "seq2seq", "narratives": "series"}.get(data, "sequence-classification")
    assert again.task.name == subject.task.name == task
    assert list(again.sites) == list(sites(subject.model))
    assert_close(again.predict(batch), subject.predict(batch))


@pytest.mark.parametrize("model", REFERENCE_MODELS.names())
def test_a_models_own_defaults_hold_where_none_are_given(model):
    reference, training = REFERENCE_MODELS.get(model), Training(model=model)
    assert reference.name == model
    assert isinstance(training.options, reference.options)
    assert reference.defaults().items() <= training.flat().items()
    assert not set(reference.options.model_fields) & set(Training.model_fields)
    assert Training(model=model, epochs=99).epochs == 99
    assert Training(model=model, hidden_size=99).options.model_dump()["hidden_size"] == 99
    assert Training(**training.to_json()) == Training.model_validate(training.model_dump()) == training


def test_defaults_of_models_by_hand():
    """As they were when one class held them all."""
    whole = {model: Training(model=model).flat() for model in (*REFERENCE_MODELS.names(), "some/saved-model")}
    for model, expected in DEFAULTS.items():
        assert expected.items() <= whole[model].items(), model


def test_an_option_that_the_model_does_not_have_is_refused_with_those_it_has():
    with pytest.raises(BadConfig, match=r"^layers: additive has no such option; it has: attention, .*, v_scale; "):
        training_for("additive", layers=2)
    with pytest.raises(BadConfig, match=r"did you mean encoder\?"):
        training_for("additive", encodr="cnn")
    with pytest.raises(BadConfig, match="a saved model that is fine-tuned has none of its own; every training has: ad"):
        training_for("some/saved-model", hidden_size=3)
    with pytest.raises(BadConfig, match="encoder: input should be 'lstm', 'cnn' or 'average', got 'gru'"):
        training_for("additive", encoder="gru")


def test_another_model_takes_over_the_options_that_it_has_too():
    tagger = Training(model="transformer", mode="paper", hidden_size=16, seed=4, epochs=5)
    other = tagger.with_options({"model": "weighted", "heads": 2})
    assert (other.model, other.seed, other.epochs, other.batch_size) == ("weighted", 4, 5, 100)
    assert other.options.model_dump() == {
        "embedding_size": 300,
        "hidden_size": 16,
        "heads": 2,
        "masks_padding": False,
        "dropout": 0.2,
    }
    assert tagger.with_options({}) == tagger


def test_a_saved_model_is_fine_tuned_with_a_new_head(tmp_path):
    """The body is the saved one's, the head is new: three classes where there were two."""
    saved, made = load(saved_models.bert()), corpus("entailment")
    training = Training(model=str(saved_models.bert()), data="entailment", epochs=1, batch_size=12)
    assert (training.optimizer, training.schedule, training.learning_rate) == ("adamw", "linear", 5e-5)
    begun = untrained(training, made)
    assert begun.labels == made.labels
    body = {name: value for name, value in saved.model.state_dict().items() if "classifier" not in name}
    assert all(torch.equal(begun.model.state_dict()[name], value) for name, value in body.items())
    assert begun.model.classifier.weight.shape[0] == 3
    tuned = train(training, tmp_path / "m", corpus=made, quiet=True)
    assert load(tmp_path / "m").fingerprint == tuned.fingerprint != begun.fingerprint


def test_a_saved_translator_is_fine_tuned(tmp_path):
    training = Training(model=str(saved_models.translator()), data="numerals", epochs=1, batch_size=20)
    tuned = train(training, tmp_path / "m", corpus=corpus("numerals"), quiet=True)
    assert tuned.task.name == "seq2seq"
    assert json.loads((tmp_path / "m" / "training.json").read_text())["losses"]


@pytest.mark.parametrize(
    ("model", "data", "complaint"),
    [
        (
            "additive",
            "numerals",
            "one label for a text; numerals asks for a target text. Models that predict that: recurrent",
        ),
        ("hierarchical", "numerals", "predicts one label"),
        ("recurrent", "reviews", "predicts a target text; reviews asks for one label for a text"),
    ],
)
def test_a_model_for_another_task_is_refused(model, data, complaint):
    with pytest.raises(BadConfig, match=complaint):
        untrained(Training(model=model, data=data, **TINY), corpus(data))


def test_a_model_that_is_not_there_names_those_there_are(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(CannotLoad, match="reference models are: additive, conditional, disan, hierarchical"):
        untrained(Training(model="aditive"), corpus("reviews"))
    with pytest.raises(BadConfig, match=r"aditive is no reference model \(did you mean additive\?\)"):
        training_for("aditive", **TINY)


def test_vectors_that_are_not_there_are_said(tmp_path):
    with pytest.raises(BadData, match="there is no file"):
        Training(vectors=tmp_path / "glove.txt").cache_key(corpus("reviews"))


def test_a_limit_draws_the_same_examples_for_every_seed():
    examples = corpus("reviews")["train"]
    assert sample(examples, 10) == sample(examples, 10)
    assert set(sample(examples, 10)) <= set(examples)
    assert len(sample(examples, 10)) == 10
    assert sample(examples, None) is examples
    assert sample(examples, 1000) is examples


def test_pieces_of_words_give_the_text_back():
    examples = corpus("numerals")["train"]
    tokenizer = subword_tokenizer(examples, 60, framed=False)
    assert len(tokenizer) == 60
    for example in examples[:10]:
        for text in (example.text, example.target):
            ids = tokenizer(text)["input_ids"]
            assert ids[-1] == tokenizer.eos_token_id
            assert tokenizer.decode(ids, skip_special_tokens=True) == text


def test_translators_words_are_those_of_both_sides_and_nothing_stands_before_a_text():
    examples = corpus("numerals")["train"]
    tokenizer = word_tokenizer(examples, framed=False)
    words = {word for example in examples for text in (example.text, example.target) for word in text.split()}
    assert words < set(tokenizer.get_vocab())
    assert tokenizer("drei")["input_ids"][0] != tokenizer.bos_token_id


def test_sentences_end_at_marks_not_at_abbreviations():
    tokenizer = word_tokenizer([*corpus("reviews")["train"]])
    ends = {tokenizer.convert_ids_to_tokens(number) for number in sentence_ends(tokenizer)}
    assert "." in ends
    assert all(not any(letter.isalnum() for letter in end) for end in ends)
