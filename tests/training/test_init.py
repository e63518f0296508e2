"""Beginning: every reference model on the corpora it is for, fine-tuning, and what is refused."""

import json

import pytest
import torch
from torch.testing import assert_close

from support import saved_models
from whence.core.attending import sites
from whence.core.errors import BadConfig, BadData, CannotLoad
from whence.data.synthetic import entailment, narratives, numerals, reviews, stories
from whence.subject.subject import load
from whence.training.config import PRESETS, Training
from whence.training.init import untrained
from whence.training.train import drawn, train
from whence.training.vocabulary import piece_tokenizer, sentence_ends, word_tokenizer

SIZES = {"sizes": {"train": 60, "dev": 12, "test": 12}}
TINY = {"embedding_size": 8, "hidden_size": 8, "epochs": 1, "learning_rate": 1e-2}
CORPORA = {"reviews": reviews, "stories": stories, "entailment": entailment, "numerals": numerals,
           "narratives": narratives}  # fmt: skip
FITTING = {
    "additive": "reviews", "conditional": "entailment", "hierarchical": "reviews", "recurrent": "numerals",
    "transformer": "numerals", "pooled": "reviews", "pooled_series": "narratives",
}  # fmt: skip


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


@pytest.mark.parametrize("model", PRESETS)
def test_a_models_own_defaults_hold_where_nothing_is_said(model):
    assert Training(model=model).model_dump(include=set(PRESETS[model])) == PRESETS[model]
    assert Training(model=model, epochs=99).epochs == 99


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
        ("additive", "numerals", "answers with one label for a text; numerals has none"),
        ("hierarchical", "numerals", "answers with one label"),
        ("recurrent", "reviews", "answers with a text; reviews has no target texts"),
    ],
)
def test_a_model_for_another_task_is_refused(model, data, complaint):
    with pytest.raises(BadConfig, match=complaint):
        untrained(Training(model=model, data=data, **TINY), corpus(data))


def test_a_model_that_is_not_there_names_those_there_are(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(CannotLoad, match="reference models are: additive, conditional, disan, hierarchical"):
        untrained(Training(model="aditive", **TINY), corpus("reviews"))


def test_vectors_that_are_not_there_are_said(tmp_path):
    with pytest.raises(BadData, match="there is no file"):
        Training(vectors=tmp_path / "glove.txt").identity(corpus("reviews"))


def test_a_limit_draws_the_same_examples_for_every_seed():
    examples = corpus("reviews")["train"]
    assert drawn(examples, 10) == drawn(examples, 10)
    assert set(drawn(examples, 10)) <= set(examples)
    assert len(drawn(examples, 10)) == 10
    assert drawn(examples, None) is examples
    assert drawn(examples, 1000) is examples


def test_pieces_of_words_give_the_text_back():
    examples = corpus("numerals")["train"]
    tokenizer = piece_tokenizer(examples, 60, framed=False)
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
