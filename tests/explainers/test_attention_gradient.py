"""Weights × gradient against differences of the answer, the weights of one key being a little larger or less."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from support.models.pooled_reader import stacked
from support.tokenizing import reader
from whence.attribution.registry import explainer
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.data.examples import Example
from whence.subject.targets import predicted

EXAMPLES = [Example("the movie was not good"), Example("unbelievable movies !"), Example("bad")]


class Grown:
    """An override: the weights of one key times 1 + step, in all heads and rows."""

    trusted = True

    def __init__(self, key, step):
        self.key, self.step = key, step

    def __call__(self, call):
        factor = torch.ones(call.weights.shape[-1], dtype=call.weights.dtype)
        factor[self.key] += self.step
        return call.weights * factor


@pytest.mark.parametrize("measure", ["probability", "logit"])
def test_against_differences_of_the_answer(measure):
    subject = stacked(depth=2, heads=2)
    batch = subject.encode(EXAMPLES)
    target = predicted(subject, batch, measure)

    @torch.no_grad()
    def slope(site, key):
        answers = []
        for step in (1e-5, -1e-5):
            with attending(subject.model, {site: Grown(key, step)}, watch=None):
                answers.append(target.of(subject.logits(batch)))
        return ((answers[0] - answers[1]) / 2e-5).numpy()

    each = [np.stack([slope(site, key) for key in range(batch.special.shape[1])], 1) for site in subject.sites]
    for layer, expected in (("sum", sum(each)), ("last", each[-1]), (0, each[0]), (-2, each[1])):
        found = explainer("attention_gradient")(subject, batch, target, layer=layer)
        assert_allclose(found.scores, expected, atol=1e-6)
        assert found.signed
        assert found.how == f"of the {measure}; layer: {layer}, all heads and queries"


def test_a_sum_over_the_tape_for_a_translator_and_steps_of_an_rnn():
    for name in ("bart", "recurrent-additive"):
        subject = reader(name)
        batch = subject.encode([Example("a good film", target="bad film"), Example("bad", target="good")])
        target = predicted(subject, batch)
        across = [site for site, about in subject.sites.items() if about.kind == "cross"]
        with subject.embedded(), attending(subject.model, watch=across) as tape:
            answer = target.of(subject.logits(batch)).sum()
            weights = [call.weights for call in tape.calls()]
            gradients = torch.autograd.grad(answer, weights, allow_unused=True)
        parts = [(w * g).sum((1, 2)) for w, g in zip(weights, gradients, strict=True) if g is not None]
        found = explainer("attention_gradient")(subject, batch, target)
        assert_allclose(found.scores, sum(parts).detach(), atol=1e-6)


def test_what_cannot_be_done():
    subject = reader("bert")
    batch = subject.encode(EXAMPLES)
    for layer, complaint in (
        ("mean", "no layer 'mean'; choose from: sum, last, or a number"),
        (2, "no layer 2; there are 2"),
    ):
        with pytest.raises(BadConfig, match=complaint):
            explainer("attention_gradient")(subject, batch, predicted(subject, batch), layer=layer)
    parts = reader("hierarchical")
    batch = parts.encode(EXAMPLES)
    with pytest.raises(BadConfig, match="attention_gradient needs keys that are tokens"):
        explainer("attention_gradient")(parts, batch, predicted(parts, batch))
