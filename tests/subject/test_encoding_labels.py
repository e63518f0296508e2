"""Labels, tags and targets: what is predicted and what is right, by hand."""

import pytest
import transformers as hf

from support import zoo
from support.models.classifier import classifier
from support.tokenizing import byte_pairs, reader, wordpiece
from whence.core.errors import BadData
from whence.data.examples import Example
from whence.subject.subject import Subject


def tagger(tokenizer=None):
    config = hf.BertConfig(**(zoo.BERT | {"vocab_size": 300}), id2label={0: "O", 1: "PLACE", 2: "PERSON"})
    return Subject(hf.BertForTokenClassification(config), tokenizer or wordpiece())


# labels


def test_labels_by_name_whatever_their_case():
    encoder = classifier(("Negative", "POSITIVE")).encoder
    assert [encoder.label_id(label) for label in ("Negative", "negative", "positive", "POSITIVE")] == [0, 0, 1, 1]
    batch = encoder.encode([Example("good", label="positive"), Example("bad", label=None)], [0, 1])
    assert batch.labels.tolist() == [[1], [-1]]
    assert batch.predicted_positions.tolist() == [[True], [True]]


def test_labels_that_differ_in_case_alone_are_told_apart():
    encoder = classifier(("Us", "us")).encoder
    assert [encoder.label_id("Us"), encoder.label_id("us")] == [0, 1]


def test_labels_by_number_unless_the_classes_are_named_by_numbers():
    nameless = classifier(None, num_labels=3).encoder
    assert [nameless.label_id(label) for label in ("0", "2", "LABEL_1", "label_2")] == [0, 2, 1, 2]
    for label in ("3", "-1", "1.0", ""):
        with pytest.raises(
            BadData, match=f"the label {label!r} is unknown to the model, whose labels are: LABEL_0, LABEL_1"
        ):
            nameless.label_id(label)
    named = classifier().encoder
    assert [named.label_id("0"), named.label_id("1")] == [0, 1]
    with pytest.raises(BadData, match=r"whose labels are: negative, positive \(or their numbers, from 0 to 1\)"):
        named.label_id("2")
    stars = classifier(("3", "1")).encoder  # as names: "1" is the class 1 because it is called so, and "0" is nothing
    assert [stars.label_id("3"), stars.label_id("1")] == [0, 1]
    with pytest.raises(BadData, match=r"the label '0' is unknown to the model, whose labels are: 3, 1\. Rename"):
        stars.label_id("0")


def test_labels_survive_a_table_of_names_that_was_never_filled():
    """A config may name its classes by number only; transformers then leaves the other table empty."""
    subject = classifier(("no", "yes"))
    subject.model.config.label2id = None
    assert Subject(subject.model, subject.tokenizer).encoder.label_id("yes") == 1


# what is predicted


def test_tags_stand_at_the_first_piece_of_each_word():
    words = ("the", "unbelievable", "movies", ".")
    batch = tagger().encode(
        [
            Example(" ".join(words), words=words, tags=("O", "PERSON", "place", "O")),
            Example("good", words=("good",), tags=("PLACE",)),
            Example("bad !"),
        ]
    )
    assert batch.tokens[0] == ("[CLS]", "the", "un", "##believ", "##able", "movie", "##s", ".", "[SEP]")
    assert batch.predicted_positions[0].nonzero().flatten().tolist() == [1, 2, 5, 7]
    assert batch.labels[0].tolist() == [-1, 0, 2, -1, -1, 1, -1, 0, -1]
    assert batch.labels[1].tolist() == [-1, 1, *[-1] * 7]
    assert batch.predicted_positions[2].nonzero().flatten().tolist() == [
        1,
        2,
    ]  # asked, though nobody knows what is right
    assert (batch.labels[2] == -1).all()


def test_tags_without_special_tokens_around_them():
    """The first token is the first piece of a word, also where it is the last token too."""
    subject = tagger(byte_pairs())
    batch = subject.encode([Example("xy", words=("xy",), tags=("PLACE",))])
    assert batch.word[0].tolist() == [0, 0]
    assert batch.predicted_positions[0].tolist() == [True, False]
    assert batch.labels[0].tolist() == [1, -1]


def test_an_unknown_tag_is_refused():
    with pytest.raises(BadData, match="the label 'ANIMAL' is unknown to the model, whose labels are: O, PLACE, PERSON"):
        tagger().encode([Example("good", words=("good",), tags=("ANIMAL",))])


def test_a_language_model_predicts_each_token_but_the_first():
    batch = reader("llama").encode([Example("the movie"), Example("the movie was good")])
    ids = batch.inputs["input_ids"]
    assert batch.labels[1].tolist() == ids[1, 1:].tolist()
    assert batch.labels[0].tolist() == [*ids[0, 1:4].tolist(), -1, -1]
    assert batch.predicted_positions[0].tolist() == [True, True, True, False, False]


def test_a_translator_predicts_each_target_token():
    batch = reader("bart").encode([Example("the movie", target="good film"), Example("a story", target="bad")])
    numbers = reader("bart").tokenizer.get_vocab()
    assert batch.labels.tolist() == [[1, numbers["good"], numbers["film"], 2], [1, numbers["bad"], 2, -1]]
    assert batch.predicted_positions.tolist() == [[True] * 4, [True, True, True, False]]
    assert batch.inputs["labels"][1].tolist() == [1, numbers["bad"], 2, -100]
    with pytest.raises(BadData, match="a sequence-to-sequence model predicts a target text"):
        reader("bart").encode([Example("the movie")])
