"""Question 3 on heads set by hand: known answers, and changes of the model that must change nothing."""

import numpy as np
import pandas as pd
import pytest

from support.models.hand_set_heads import DECISIVE, FILLERS, LABELS, WORD, Head, context_of, hand_set, reviews
from whence.data.examples import Example
from whence.experiments import faithfulness

IDLE = Head(dict.fromkeys(FILLERS, 3.0))
UNIFORM = Head({}, {"good": 9.0, "bad": -9.0})
AWAY = Head({"good": -2.0, "bad": -2.0}, {"good": 40.0, "bad": -40.0})  # the deciding word gets least
METHODS = ("raw_attention", "leave_one_out", "random")


def table(subject, examples=None, numbers=None) -> pd.DataFrame:
    config = faithfulness.Config(model="m", data="d", method=METHODS, soft_draws=0)
    return faithfulness.run(config, context_of(subject, examples or reviews(40), numbers))


def answer(*heads: Head, **options) -> str:
    return faithfulness.verdict(table(hand_set(*heads, **options))).answer


def test_known_answers():
    assert answer(DECISIVE) == "yes"
    assert answer(AWAY) == "no"
    assert answer(UNIFORM) != "yes"  # all weights are equal, and ties are broken at random
    assert answer(IDLE, bypass={"good": 1.0, "bad": -1.0}) == "no"  # reads past attention, which is elsewhere
    past = faithfulness.verdict(table(hand_set(Head(DECISIVE.scores), bypass={"good": 1.0, "bad": -1.0})))
    assert past.answer == "undecided"  # points at the deciding word, but the word reaches the prediction by other ways
    assert "other ways" in past.sentence


def test_a_model_that_knows_nothing_decides_nothing():
    for shuffled in (DECISIVE, Head()):
        wrong = [Example(one.text, LABELS[n // 2 % 2]) for n, one in enumerate(reviews(40))]
        found = faithfulness.verdict(table(hand_set(shuffled, bypass={"[CLS]": 0.1}), wrong))
        assert found.answer == "undecided"
        assert "not clearly better than chance" in found.sentence


def same(one: pd.DataFrame, other: pd.DataFrame) -> None:
    first, second = (faithfulness.verdict(made) for made in (one, other))
    assert (first.answer, first.sentence) == (second.answer, second.sentence)


@pytest.mark.parametrize("scale", [0.1, 10.0])
@pytest.mark.parametrize("head", [DECISIVE, AWAY], ids=["decisive", "away"])
def test_logits_multiplied_by_a_number_change_nothing(head, scale):
    one, other = table(hand_set(head)), table(hand_set(head, scale=scale))
    np.testing.assert_allclose(one["normalised"], other["normalised"], atol=1e-4)
    same(one, other)


@pytest.mark.parametrize("idle", [1, 3])
def test_idle_heads_that_look_nowhere_change_nothing(idle):
    same(table(hand_set(DECISIVE)), table(hand_set(*[Head()] * idle, DECISIVE)))


def test_heads_relabelled_and_classes_renamed_change_nothing():
    second = Head({"good": 1.0}, {"good": 0.3, "bad": -0.3})
    same(table(hand_set(DECISIVE, second)), table(hand_set(second, DECISIVE)))
    renamed = [Example(one.text, LABELS[1 - LABELS.index(str(one.label))]) for one in reviews(40)]
    same(table(hand_set(DECISIVE)), table(hand_set(DECISIVE, labels=LABELS[::-1]), renamed))
    assert set(WORD.values()) == set(LABELS)


def test_the_order_of_the_examples_changes_nothing():
    examples, order = reviews(40), np.random.default_rng(3).permutation(40)
    same(
        table(hand_set(DECISIVE), examples),
        table(hand_set(DECISIVE), [examples[number] for number in order], order.tolist()),
    )
