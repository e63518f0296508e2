"""Which heads carry an answer, against differences of the answer as one head grows a little."""

import pytest
import torch
from numpy.testing import assert_allclose

from pooled_reader import stacked
from tokenizing import reader
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.data.examples import Example
from whence.explainers._heads import heads
from whence.explaining import explain_text
from whence.models.targets import predicted

EXAMPLES = [Example("the movie was not good"), Example("bad")]


class Grown:
    """An override: all weights of one head times 1 + step; so is its context."""

    trusted = True

    def __init__(self, head, step):
        self.head, self.step = head, step

    def __call__(self, call):
        factor = torch.ones(1, call.weights.shape[1], 1, 1, dtype=call.weights.dtype)
        factor[0, self.head] += self.step
        return call.weights * factor


def test_shares_follow_the_slope_of_the_answer_in_each_head():
    subject = stacked(depth=2, heads=2)
    batch = subject.encode(EXAMPLES)
    target = predicted(subject, batch)

    @torch.no_grad()
    def slope(site, head):
        answers = []
        for step in (1e-5, -1e-5):
            with attending(subject.model, {site: Grown(head, step)}, watch=None):
                answers.append(target.of(subject.logits(batch)))
        return ((answers[0] - answers[1]) / 2e-5).abs().numpy()

    found = heads(subject, batch, target)
    n_heads = {site: len(one) for site, one in found[0].shares.items()}
    assert list(n_heads) == list(subject.sites)
    slopes = {(site, head): slope(site, head) for site, number in n_heads.items() for head in range(number)}
    for text, one in enumerate(found):
        total = sum(s[text] for s in slopes.values())
        for (site, head), expected in slopes.items():
            assert one.shares[site][head] == pytest.approx(expected[text] / total, abs=1e-5)
        expected = sorted((s[text] / total for s in slopes.values()), reverse=True)[:3]
        assert_allclose([share for _, _, share in one.most(3)], expected, atol=1e-5)
        assert sum(share for _, share in one.layers) == pytest.approx(1)


def test_steps_of_a_decoder_are_taken_together():
    subject = reader("recurrent-additive")
    batch = subject.encode([Example("a good film", target="bad film")])
    (found,) = heads(subject, batch, predicted(subject, batch))
    assert_allclose(found.shares["attention"], [1.0])


def test_a_note_says_which_to_look_at():
    subject = reader("bert")
    shown = explain_text(subject, "a good film", methods=("random",), which_heads=True)
    batch = subject.encode([Example("a good film")])
    site, head, share = heads(subject, batch, predicted(subject, batch))[0].most(1)[0]
    assert (
        f"heads that carry most of the answer (Michel et al. 2019): {site} head {head} ({share:.0%})" in shown.notes[0]
    )
    assert shown.notes[0] in shown.to_text()
    with pytest.raises(BadConfig, match="every paragraph has heads of its own"):
        explain_text(subject, "a good film", paragraphs=True, which_heads=True)
