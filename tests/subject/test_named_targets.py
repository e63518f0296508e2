"""What the user asks about: another class, why one and not another, a given word. By hand from the logits."""

import pytest
import torch
import transformers as hf
from torch.testing import assert_close

from support import zoo
from support.models.classifier import classifier
from support.tokenizing import reader, wordpiece
from whence.attribution.registry import explainer
from whence.core.errors import BadConfig, BadData
from whence.data.examples import Example
from whence.subject.named_targets import Question, asked, word_number
from whence.subject.subject import Subject
from whence.subject.targets import Target, predicted

LOGITS = torch.tensor([[[1.0, 2.0, 4.0]], [[2.0, 5.0, 3.0]]])


def test_the_default_is_the_margin_which_does_not_saturate():
    assert Target(torch.tensor([0]), torch.tensor([0])).measure == "margin"
    sure = torch.tensor([[[40.0, 0.0]], [[20.0, 0.0]]])
    both = torch.tensor([0, 0])
    assert Target(both, both, "probability").of(sure).diff().item() == 0.0  # in float32 both are 1
    assert Target(both, both).of(sure).diff().item() == -20.0


def test_why_one_and_not_another_is_the_difference_of_their_logits():
    target = Target(torch.tensor([2, 1]), torch.tensor([0, 0]), "margin", torch.tensor([0, 2]))
    assert_close(target.of(LOGITS), torch.tensor([3.0, 2.0]))
    twice = target.of_rows(torch.tensor([1, 1, 0]))
    assert_close(twice.of(LOGITS[[1, 1, 0]]), torch.tensor([2.0, 2.0, 3.0]))
    assert (target.name, Target(target.classes, target.positions).name) == ("difference of two logits", "margin")


def test_classes_by_name_or_number():
    subject = classifier(("bad", "good", "so so"))
    examples = [Example("good film"), Example("a bad story")]
    batch = subject.encode(examples)
    logits = subject.logits(batch).detach()[:, 0]
    why = asked(subject, batch, examples, Question(answer="good", against="2"))
    assert_close(why.of(subject.logits(batch)).detach(), logits[:, 1] - logits[:, 2])
    with pytest.raises(BadData, match="the label 'great' is unknown to the model, whose labels are: bad, good, so so"):
        asked(subject, batch, examples, Question(answer="great"))
    with pytest.raises(BadConfig, match="'good' is what is explained"):
        asked(subject, batch, examples, Question(answer="good", against="good"))
    with pytest.raises(BadConfig, match="difference of their logits"):
        Question(measure="probability", against="good")


@pytest.mark.parametrize("method", ["leave_one_out", "gradient_x_input", "integrated_gradients", "gradient_squared"])
def test_explainers_score_the_difference(method):
    """With two classes the margin of one is the difference from the other; what is turned round changes sign."""
    subject, examples = classifier(("bad", "good")), [Example("a good film"), Example("bad")]
    batch = subject.encode(examples)
    one, margin, other = (
        explainer(method)(subject, batch, asked(subject, batch, examples, question)).scores
        for question in (
            Question(answer="good", against="bad"),
            Question(answer="good"),
            Question(answer="bad", against="good"),
        )
    )
    assert_close(one, margin)
    assert_close(one, other if method == "gradient_squared" else -other, atol=1e-5, rtol=1e-4)


def test_the_next_word_of_a_language_model():
    subject, examples = reader("llama"), [Example("the movie was")]
    batch = subject.encode(examples, ahead=True)
    words = ("the movie was", "the movie was good", "the movie was bad")
    before, good, bad = (subject.tokenizer(text, add_special_tokens=False)["input_ids"] for text in words)
    assert good[: len(before)] == bad[: len(before)] == before
    found = asked(subject, batch, examples, Question(answer="good", against="bad"))
    assert (found.classes.tolist(), found.against.tolist()) == ([good[len(before)]], [bad[len(before)]])
    assert found.positions.tolist() == predicted(subject, batch).positions.tolist()


def test_a_word_of_a_translators_target():
    subject = reader("bart")
    examples = [Example("the movie", target="the good film was good")]
    batch = subject.encode(examples)
    words = subject.tokenizer.convert_ids_to_tokens(batch.labels[0].tolist())
    found = asked(subject, batch, examples, Question(at="film", against="movie"))
    place = int(found.positions[0])
    assert "film" in words[place]
    assert found.classes.tolist() == [int(batch.labels[0, place])]
    instead = subject.tokenizer(text_target="the good movie was good")["input_ids"]
    assert found.against.tolist() == [instead[place]]
    assert int(asked(subject, batch, examples, Question(at="1")).positions[0]) == place - 1
    with pytest.raises(BadConfig, match=r"'good' is there 2 times \(words 1, 4\)"):
        asked(subject, batch, examples, Question(at="good"))
    with pytest.raises(
        BadConfig, match="there is no 'weak'; expected a word that is there once, or its number, from 0"
    ):
        asked(subject, batch, examples, Question(at="weak"))


def test_the_tag_of_a_word():
    config = hf.BertConfig(**zoo.BERT, id2label={0: "O", 1: "PLACE", 2: "PERSON"})
    subject = Subject(hf.BertForTokenClassification(config), wordpiece())
    examples = [Example("an unbelievable story !")]
    batch = subject.encode(examples)
    probs = subject.predict(batch)[0]
    for at in ("story", "2"):
        found = asked(subject, batch, examples, Question(at=at, against="PLACE", answer="PERSON"))
        assert batch.tokens[0][int(found.positions[0])] == "story"
        assert (found.classes.tolist(), found.against.tolist()) == ([2], [1])
    plain = asked(subject, batch, examples, Question(at="unbelievable"))
    assert plain.classes.tolist() == [int(probs[int(plain.positions[0])].argmax())]
    with pytest.raises(BadConfig, match="a word is named for translators and taggers"):
        asked(classifier(), classifier().encode(examples), examples, Question(at="story"))


def test_words_are_counted_from_0():
    assert [word_number(("a", "b", "3"), at) for at in ("a", "2", "3", "0")] == [0, 2, 2, 0]
    with pytest.raises(BadConfig, match="from 0 to 2"):
        word_number(("a", "b", "3"), "4")
