"""Models whose heads are set by hand: the verdict is the known one, and what changes nothing changes no verdict."""

import numpy as np
import pytest

from support.experiments.instance_adversary import config
from support.models.hand_set_heads import DECISIVE, FILLERS, LABELS, Head, context_of, hand_set, reviews
from whence.data.examples import Example
from whence.experiments import instance_adversary

SECOND = Head({"good": 3.0, "bad": 3.0, "the": 1.0}, {"good": 1.0, "bad": -1.0})
IDLE = Head({"movie": 4.0, "a": 2.0})
BYPASS = {"good": 2.0, "bad": -2.0}
CONSTANT, OPPOSITE = (Head({"film": 4.0}, dict.fromkeys((*FILLERS, *BYPASS), value)) for value in (0.5, -0.5))


def table(subject, examples=None, numbers=None, **options):
    short = {"steps": 40, "restarts": 2, "max_output_change": (0.05,), **options}
    return instance_adversary.run(config(**short), context_of(subject, examples or reviews(), numbers))


def answer(*heads, examples=None, **options):
    return instance_adversary.verdict(table(hand_set(*heads, **options), examples)).answer


def parked(weight: float, head: Head = DECISIVE) -> Head:
    """The head with this share of the weight on [SEP]: its score is that much above all of the others together."""
    others = float(np.exp(8.0) + 9)  # a deciding word, fillers and [CLS]; eight words or so
    return Head({**head.scores, "[SEP]": float(np.log(weight / (1 - weight) * others))}, head.values)


def test_attention_to_the_only_deciding_word_is_exclusive():
    assert answer(DECISIVE) == "yes"


def test_attention_to_one_of_two_copies_is_not():
    assert answer(DECISIVE, examples=reviews(copies=2)) == "no"


def test_attention_that_plays_no_role_can_be_moved_at_will():
    assert answer(IDLE, bypass=BYPASS) == "no"


def test_a_model_that_knows_nothing_decides_nothing():
    for head in (DECISIVE, IDLE):
        shuffled = [Example(one.text, LABELS[number % 4 < 2]) for number, one in enumerate(reviews())]
        found = instance_adversary.verdict(table(hand_set(head, bypass={"[CLS]": 0.1}), shuffled))
        assert found.answer == "undecided"
        assert "not clearly better than chance" in found.sentence
    assert answer(Head({"good": 8.0}), bypass={"[CLS]": 1.0}) == "undecided"  # always the same class


@pytest.mark.parametrize("share", [0.8, 0.95])
def test_weight_parked_on_a_special_token_is_no_sign_of_exclusive_attention(share):
    """What is not parked can be moved at will: it plays no role."""
    made = table(hand_set(parked(share), bypass={"good": 9.0, "bad": -9.0}))
    assert made["free_mass"].mean() == pytest.approx(1 - share, abs=0.01)
    assert made["jsd"].min() > 0.2
    assert instance_adversary.verdict(made).answer == ("no" if share < 0.9 else "undecided")
    whole = table(hand_set(parked(share), bypass={"good": 9.0, "bad": -9.0}), divergence="row")
    assert whole["jsd"].max() < 0.2, "within the whole row nothing seems to move"


def test_what_is_not_parked_is_judged_by_itself():
    assert answer(parked(0.8)) == "yes"
    assert answer(parked(0.8), examples=reviews(copies=2)) == "no"


@pytest.mark.parametrize("heads", [(DECISIVE,), (DECISIVE, SECOND)])
@pytest.mark.parametrize("added", [(IDLE,), (IDLE, IDLE, IDLE), (CONSTANT, OPPOSITE)])
def test_heads_that_do_nothing_change_nothing(heads, added):
    """Neither heads whose values are zero, nor those whose values are the same for all words that can get weight."""
    alone, beside = table(hand_set(*heads)), table(hand_set(*added[:1], *heads, *added[1:]))
    np.testing.assert_allclose(beside["jsd"], alone["jsd"], atol=1e-3)
    np.testing.assert_allclose(beside["free_mass"], alone["free_mass"], atol=1e-5)
    assert instance_adversary.verdict(beside).answer == instance_adversary.verdict(alone).answer == "yes"


def test_heads_in_another_order_change_nothing():
    one, other = table(hand_set(DECISIVE, SECOND, IDLE)), table(hand_set(IDLE, SECOND, DECISIVE))
    np.testing.assert_allclose(one["jsd"], other["jsd"], atol=1e-3)
    assert instance_adversary.verdict(one).sentence == instance_adversary.verdict(other).sentence


@pytest.mark.parametrize(("heads", "copies"), [((DECISIVE,), 1), ((DECISIVE,), 2), ((DECISIVE, SECOND), 1)])
def test_logits_multiplied_by_a_number_change_nothing(heads, copies):
    made = [table(hand_set(*heads, scale=scale), reviews(copies=copies)) for scale in (1.0, 0.1, 10.0)]
    for other in made[1:]:
        np.testing.assert_allclose(other["jsd"], made[0]["jsd"], atol=2e-3)
        np.testing.assert_allclose(other["tvd"], made[0]["tvd"], atol=2e-3)
        assert instance_adversary.verdict(other).sentence == instance_adversary.verdict(made[0]).sentence
    factors = [one["factor"].iloc[0] for one in made]
    assert factors == pytest.approx([factors[0], 10 * factors[0], factors[0] / 10])
    own = [table(hand_set(*heads, scale=scale), probabilities="model")["jsd"].mean() for scale in (0.1, 1.0)]
    assert own[0] > own[1] + 0.1, "the model's own probabilities follow the size of the logits"


def test_names_of_classes_change_nothing():
    one = table(hand_set(DECISIVE, SECOND))
    renamed = [Example(text.text, LABELS[1 - LABELS.index(text.label)]) for text in reviews()]
    other = table(hand_set(DECISIVE, SECOND, labels=LABELS[::-1]), renamed)
    assert one.drop(columns=["label", "prediction"]).equals(other.drop(columns=["label", "prediction"]))
    assert instance_adversary.verdict(one) == instance_adversary.verdict(other)


def test_classes_in_another_order_change_nothing():
    """The same model with its logits exchanged: every value has the other sign."""
    turned = Head(DECISIVE.scores, {word: -value for word, value in DECISIVE.values.items()})
    one, other = table(hand_set(DECISIVE)), table(hand_set(turned, labels=LABELS[::-1]))
    np.testing.assert_allclose(one["jsd"], other["jsd"], atol=1e-4)
    assert one["prediction"].tolist() == other["prediction"].tolist()


def test_the_order_of_the_examples_changes_nothing():
    examples, order = reviews(), np.random.default_rng(0).permutation(30)
    one = table(hand_set(DECISIVE, SECOND), examples)
    other = table(hand_set(DECISIVE, SECOND), [examples[n] for n in order], order.tolist())
    assert one["example"].tolist() == other["example"].tolist()
    np.testing.assert_allclose(one["jsd"], other["jsd"], atol=1e-3)
    assert instance_adversary.verdict(one) == instance_adversary.verdict(other)


def test_the_decision_is_kept():
    """A margin so small that another class is within ε: adversaries may not go there, unless it is allowed."""
    head = Head({"good": 0.5, "bad": 0.5}, {"good": 0.4, "bad": 0.4, "the": -0.4, "movie": -0.4})
    examples = [Example(text) for text in ("good the a film", "the movie good bad a", "movie good was")]
    options = {"probabilities": "model", "max_output_change": (0.1,)}
    for allowed in (False, True):
        subject = hand_set(head)
        context = context_of(subject, examples)
        (batch,) = context.batches()
        _, (found,) = instance_adversary_search(context, batch, allowed, options)
        flipped = decisions(subject, batch, found.rows) != decisions(subject, batch)
        assert flipped.any() == allowed
        assert (found.restart >= 0).all()


def instance_adversary_search(context, batch, allowed, options):
    from whence.evaluation.exclusivity.attention_search import furthest_attention

    return furthest_attention(context, batch, config(change_decision=allowed, **options), "attention", 40)


def decisions(subject, batch, rows=None):
    """The predicted classes, with these weights imposed on the first row."""
    from whence.core.attending import attending
    from whence.core.overrides import imposed

    given = None if rows is None else imposed(rows.expand(-1, -1, batch.special.shape[1], -1))
    with attending(subject.model, override=given, watch=None):
        return subject.predict(batch)[:, 0].argmax(-1).numpy()
