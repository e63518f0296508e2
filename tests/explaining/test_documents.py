"""Paragraph × word: a document is cut, each paragraph explained by itself, and the product is by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from support.tokenizing import reader, wordpiece
from support.zoo import BY_NAME
from whence.api import explain
from whence.attribution.registry import explainer
from whence.core.errors import BadConfig, BadData
from whence.data.examples import Example
from whence.explaining.documents import read_document, split_paragraphs
from whence.subject.named_targets import Question
from whence.subject.subject import Subject
from whence.subject.targets import Target, predicted

TEXT = "the movie was not good\n\na bad story ,\nunbelievable !\n\n\n\nthe film was bad"


def short(name="bert"):
    return Subject(BY_NAME[name].build(), wordpiece(model_max_length=8), name=name)


def test_paragraphs_are_cut_at_empty_lines():
    whole = reader("bert")
    expected = ["the movie was not good", "a bad story , unbelievable !", "the film was bad"]
    assert split_paragraphs(whole, TEXT) == expected
    assert split_paragraphs(whole, TEXT.replace("\n", "\r\n")) == expected


def test_long_ones_are_halved_until_they_fit_and_no_word_is_lost():
    subject = short()
    text = "the movie was not good and " * 9
    pieces = split_paragraphs(subject, text)
    assert " ".join(pieces) == " ".join(text.split())
    assert len(pieces) > 5
    assert not subject.read([Example(piece) for piece in pieces]).truncated.any()
    assert split_paragraphs(subject, "unbelievable" * 9) == ["unbelievable" * 9]  # one word cannot be cut


@pytest.mark.parametrize("method", ["raw_attention", "gradient_x_input", "rollout"])
def test_each_words_share_times_its_paragraphs_part_in_the_answer(method):
    subject = reader("bert")
    document = explain(subject, TEXT, methods=(method,), paragraphs=True)
    pieces = split_paragraphs(subject, TEXT)
    alone = [subject.predict(subject.encode([Example(piece)]))[0, 0].numpy() for piece in pieces]
    answer = int(np.mean(alone, 0).argmax())
    parts = np.array([one[answer] for one in alone]) / sum(one[answer] for one in alone)
    expected, tokens = [], []
    for part, piece in zip(parts, pieces, strict=True):
        batch = subject.encode([Example(piece)])
        target = predicted(subject, batch)
        target = Target(target.classes * 0 + answer, target.positions)
        one = explainer(method)(subject, batch, target).text(0)
        total = sum(abs(score) for _, score in one)
        expected += [part * score / total for _, score in one]
        tokens += [token for token, _ in one]
    assert document.tokens == tokens
    assert_allclose(document.scores[method], expected, atol=1e-5)
    assert np.abs(expected).sum() == pytest.approx(1)
    assert document.prediction == subject.labels[answer]
    assert document.probability == pytest.approx(np.mean(alone, 0)[answer], abs=1e-6)
    said = "read in paragraphs: 3, none longer than the model's 64 tokens"
    assert document.notes == (said, f"explained: the margin of {document.prediction}")
    assert "in each of 3 paragraphs, weighted by its share of the prediction" in document.attributions[0].how


def test_words_are_numbered_through_the_document():
    document = explain(reader("bert"), TEXT, methods=("random",), paragraphs=True)
    (found,) = document.attributions
    assert len(found.words(0)) == 5 + 6 + 4
    sizes = dict(zip(document.tokens, document.scores["random"], strict=True))
    assert found.words(0)[9] == pytest.approx(sum(sizes[piece] for piece in ("un", "##believ", "##able")))


def test_many_paragraphs_in_several_batches_and_a_short_limit():
    subject = short()
    document = explain(subject, "the movie was not good " * 30, methods=("raw_attention",), paragraphs=True)
    assert len(document.tokens) == 150
    assert sum(document.scores["raw_attention"]) == pytest.approx(1, abs=1e-5)


def test_what_cannot_be_cut():
    subject = reader("bert")
    for more in ({"pair": "a film"}, {"at": "film"}):
        with pytest.raises(BadConfig, match="only a single text is cut into paragraphs; leave out the second text and"):
            explain(subject, TEXT, **more, paragraphs=True)
    with pytest.raises(BadData, match="the label 'ein Film' is unknown to the model"):
        explain(subject, TEXT, target="ein Film", paragraphs=True)
    with pytest.raises(BadData, match="the text is empty"):
        read_document(subject, " \n\n ")
    with pytest.raises(BadConfig, match="this model is for token-classification"):
        explain(reader("xlm-roberta"), TEXT, paragraphs=True)


def test_a_hierarchical_attention_network_has_its_own_product():
    """Yang et al.: the weight of a word in its sentence times that of the sentence."""
    subject = reader("hierarchical")
    batch = subject.encode([Example("the movie was good . not bad !")])
    found = explainer("raw_attention")(subject, batch, predicted(subject, batch))
    assert found.how.startswith("layer: word × sentence")
    assert found.scores.sum() == pytest.approx(1, abs=1e-5)


def test_another_class_weighs_paragraphs_by_its_own_probability():
    subject = reader("bert")
    plain = read_document(subject, TEXT)
    other = 1 - plain.prediction
    asked = read_document(subject, TEXT, Question(answer=subject.labels[other], against=subject.labels[1 - other]))
    assert asked.prediction == plain.prediction
    assert_allclose(asked.weights, plain.probabilities[:, other] / plain.probabilities[:, other].sum())
    target = asked.target(2)
    assert (target.classes.tolist(), target.against.tolist()) == ([other] * 2, [1 - other] * 2)
    assert asked.describe(subject.labels).startswith(f"explained: why {subject.labels[other]}, not ")
