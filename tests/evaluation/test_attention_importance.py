"""The importance of heads compared with a slow loop over texts, heads and attentions, and with numbers by hand."""

import numpy as np
import pytest
import torch

from support.experiments.instance_adversary import TEXTS, context
from support.models.hand_set_heads import Head, context_of, hand_set, reviews
from whence.core.attending import attending
from whence.core.overrides import imposed
from whence.evaluation.exclusivity.attention_importance import importance_shares, margin_slopes, margin_spans
from whence.evaluation.exclusivity.editable_attention import EditableAttention, single_site
from whence.evaluation.scoring import calibration_factor
from whence.subject.targets import predicted


def attention_of(some) -> EditableAttention:
    (batch,) = some.batches()
    return EditableAttention(some.subject, batch, single_site(some.subject, "auto"))


def slow_spans(subject, example, site, row):
    """By head: the span of the margin under four attentions, each a whole forward pass of the text by itself."""
    batch = subject.encode([example])
    target = predicted(subject, batch, "margin")
    with attending(subject.model, watch=site) as tape, torch.no_grad():
        subject.logits(batch)
    own = tape.only(site).weights.detach()
    free = (tape.only(site).mask[0].expand(own.shape[1:])[:, row] & ~batch.special[0])[0]  # [key]

    def margin(weights):
        with attending(subject.model, override={site: imposed(weights)}, watch=None):
            return target.of(subject.logits(batch))[0]

    leaf = own.clone().requires_grad_()
    (slope,) = torch.autograd.grad(margin(leaf), leaf)
    keys, spans = free.nonzero().flatten(), []
    for head in range(own.shape[1]):
        mass, by_key = own[0, head, row, free].sum(), slope[0, head, row, free]
        tried = [own[0, head, row, free], mass.expand(len(keys)) / len(keys)]
        tried += [mass * torch.eye(len(keys))[at] for at in (by_key.argmax(), by_key.argmin())]
        margins = []
        for weights in tried:
            given = own.clone()
            given[0, head, row, keys] = weights
            with torch.no_grad():
                margins.append(float(margin(given)))
        spans.append(max(margins) - min(margins))
    return spans


@pytest.mark.parametrize("name", ["bert", "albert"])
def test_the_importance_is_that_of_a_slow_loop(name):
    some = context(name, TEXTS[:3])
    there = attention_of(some)
    found = importance_shares(there)
    for place, number in enumerate(there.batch.examples.tolist()):
        spans = slow_spans(some.subject, some.examples[number], there.site, 0)
        np.testing.assert_allclose(found[place, :, 0], np.array(spans) / sum(spans), atol=2e-4)
    assert found.std() > 0.01, "all heads alike: the loop shows nothing"


def test_where_the_margin_is_affine_it_is_mass_times_the_range_of_the_values():
    heads = [Head({"good": 2.0}, {"good": 3.0, "the": -1.0}), Head({"[SEP]": 2.0}, {"bad": -2.0}), Head({"a": 3.0})]
    there = attention_of(context_of(hand_set(*heads), reviews(4)))
    slope, spans = margin_slopes(there), []
    for place in range(4):
        by_head = []
        for number, head in enumerate(heads):
            values = [
                head.values.get(token, 0.0)
                for token, special in zip(there.batch.tokens[place], there.batch.special[place], strict=False)
                if not special
            ]
            by_head.append(float(there.mass[place, number]) * (max(values) - min(values)))
            free = slope[place, number, 0][there.free[place, number, 0]]
            np.testing.assert_allclose(free.abs(), np.abs(values), atol=1e-5)
        spans.append(by_head)
    measured = np.array(spans)
    assert (measured[:, 2] == 0).all()
    shares = importance_shares(there)[..., 0].numpy()
    np.testing.assert_allclose(shares, measured / measured.sum(1, keepdims=True), atol=1e-5)
    assert (shares[:, 2] == 0).all(), "exactly: a head that does nothing"


def test_a_head_whose_slope_is_zero_is_not_missed():
    """The margin is cut off below what the head gives: its slope is zero, and without it the decision would be gone."""
    head = Head({"good": 8.0, "bad": 8.0}, {"good": 2.0, "bad": -2.0})
    there = attention_of(context_of(hand_set(head, Head({"a": 3.0}), bent=1.0), reviews(4)))
    assert (margin_slopes(there) == 0).all()
    assert importance_shares(there)[..., 0].tolist() == [[1.0, 0.0]] * 4
    first = torch.zeros(4, 2, 1, dtype=torch.long)
    assert (margin_spans(there, first)[:, 0] > 0.5).all()


def test_where_no_head_matters_all_count_alike():
    there = attention_of(context_of(hand_set(Head({"a": 3.0}), Head(), bypass={"good": 1.0, "bad": -1.0}), reviews(4)))
    assert importance_shares(there)[..., 0].tolist() == [[0.5, 0.5]] * 4


def test_idle_rows_count_for_nothing():
    """With every token's row editable, only the first is read."""
    some = context_of(hand_set(Head({"good": 2.0}, {"good": 3.0, "bad": -2.0}), Head()), reviews(3))
    (batch,) = some.batches()
    shares = importance_shares(EditableAttention(some.subject, batch, "attention", "all"))
    assert shares[:, 0, 0].tolist() == [1.0] * 3
    assert float(shares.sum()) == pytest.approx(3.0)


def test_the_factor_makes_the_median_margin_ln_9():
    some = context_of(hand_set(Head({"good": 2.0}, {"good": 3.0, "bad": -2.0}), bypass={"a": 0.3}), reviews(9))
    logits = np.concatenate([some.subject.logits(batch)[:, 0].detach().numpy() for batch in some.batches()])
    calibrated = np.sort(calibration_factor(some) * logits, axis=-1)
    assert np.median(calibrated[:, 1] - calibrated[:, 0]) == pytest.approx(np.log(9), rel=1e-5)
    assert calibration_factor(context_of(hand_set(Head()), reviews(4))) == 1.0  # no margin at all
