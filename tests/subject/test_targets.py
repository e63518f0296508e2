"""What is explained: by hand."""

import math

import pytest
import torch
from torch.testing import assert_close

from support.tokenizing import reader
from whence.data.examples import Example
from whence.subject.targets import Target, predicted

LOGITS = torch.tensor([[[1.0, 2.0, 4.0], [0.0, 5.0, 3.0]], [[2.0, 2.0, 2.0], [1.0, 0.0, -1.0]]])


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("logit", [5.0, 2.0]),
        ("margin", [2.0, 0.0]),
        ("probability", [math.e**5 / (1 + math.e**5 + math.e**3), 1 / 3]),
    ],
)
def test_measures_by_hand(measure, expected):
    target = Target(torch.tensor([1, 2]), torch.tensor([1, 0]), measure)
    assert_close(target.of(LOGITS), torch.tensor(expected))


def test_the_answer_may_have_moved():
    target = Target(torch.tensor([2, 0]), torch.tensor([1, 0]), "logit")
    assert_close(target.of(LOGITS, torch.tensor([0, 1])), torch.tensor([4.0, 1.0]))


def test_a_margin_is_below_zero_for_a_class_that_loses():
    target = Target(torch.tensor([0, 2]), torch.tensor([0, 1]), "margin")
    assert_close(target.of(LOGITS), torch.tensor([-3.0, -2.0]))


@pytest.mark.parametrize(("name", "last"), [("bert", [0, 0]), ("llama", [2, 4]), ("bart", [2, 1])])
def test_predicted_is_the_likeliest_class_at_the_last_answer(name, last):
    subject = reader(name)
    batch = subject.encode([Example("the movie", target="good film"), Example("the movie was bad", target="bad")])
    target = predicted(subject, batch, "probability")
    assert target.positions.tolist() == last
    probs = subject.predict(batch)
    assert target.classes.tolist() == [int(probs[row, place].argmax()) for row, place in enumerate(last)]
    assert_close(target.of(subject.logits(batch)).detach(), probs[torch.arange(2), last].amax(-1))


def test_predicted_tag_is_that_of_the_last_word():
    subject = reader("xlm-roberta")
    batch = subject.encode([Example("the movies"), Example("unbelievable")])
    assert predicted(subject, batch).positions.tolist() == [2, 1]  # the first pieces of `movies` and of the only word
