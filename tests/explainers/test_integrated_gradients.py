"""Integrated gradients: they sum to the change of the answer, and equal a slow sum of gradients along the way."""

import re

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from support.models.pooled_reader import stacked
from support.tokenizing import reader
from whence.attribution.registry import explainer
from whence.core.errors import BadConfig
from whence.data.examples import Example
from whence.subject.targets import predicted

EXAMPLES = [
    Example("the movie was not good", target="the good movie"),
    Example("unbelievable movies !", target="a"),
    Example("bad", target="bad film"),
]


def explained(subject, batch, measure="probability", **options):
    return explainer("integrated_gradients")(subject, batch, predicted(subject, batch, measure), **options)


def answers(subject, batch, target, vectors):
    """What is explained, the word vectors being given to the model itself."""
    inputs = {name: tensor for name, tensor in batch.inputs.items() if name != "input_ids"}
    return target.of(subject.task.positioned(subject.model(**inputs, inputs_embeds=vectors).logits))


@pytest.mark.parametrize("name", ["bert", "distilbert", "gpt2", "bart"])
@pytest.mark.parametrize("baseline", ["zero", "padding"])
def test_scores_sum_to_the_change_of_the_answer(name, baseline):
    subject = reader(name)
    batch = subject.encode(EXAMPLES)
    target = predicted(subject, batch, "probability")
    found = explained(subject, batch, baseline=baseline)
    table = subject.model.get_input_embeddings()
    ids = batch.inputs["input_ids"]
    begin = torch.zeros_like(table(ids)) if baseline == "zero" else table(torch.zeros_like(ids))
    with torch.no_grad(), subject.embedded(begin):
        nothing = target.of(subject.logits(batch))
    change = (target.of(subject.logits(batch)) - nothing).detach().numpy()
    delta = float(re.search(r"delta at most ([\d.e+-]+)", found.how)[1])
    assert_allclose(found.scores.sum(1), change, atol=max(1e-5, 1.1 * delta))
    assert delta <= 0.02 * max(0.05, np.abs(change).max())
    assert found.signed


@pytest.mark.parametrize("measure", ["logit", "probability"])
def test_a_slow_sum_of_gradients_along_the_way(measure):
    subject = stacked(depth=1, heads=2)
    batch = subject.encode(EXAMPLES)
    target = predicted(subject, batch, measure)
    whole = subject.model.embeddings.weight[batch.inputs["input_ids"]].detach()
    steps, total = 60, torch.zeros_like(whole)
    for step in range(steps):
        vectors = (whole * (step + 0.5) / steps).requires_grad_()
        with subject.embedded(vectors):
            answer = target.of(subject.logits(batch)).sum()
        total += torch.autograd.grad(answer, vectors)[0] / steps
    found = explained(subject, batch, measure, steps=64, small=1e-4)
    assert_allclose(found.scores, (whole * total).sum(-1), rtol=1e-2, atol=2e-3)


def test_steps_are_raised_until_the_delta_is_small_and_no_further():
    subject = reader("distilbert")
    batch = subject.encode(EXAMPLES)
    rough = explained(subject, batch, steps=1, most_steps=1)
    fine = explained(subject, batch, steps=1, small=1e-3)
    assert "1 steps" in rough.how
    assert int(re.search(r"(\d+) steps", fine.how)[1]) > 4
    assert "NOT small" in explained(subject, batch, steps=2, most_steps=3, small=1e-9).how
    assert all(parameter.grad is None for parameter in subject.model.parameters())


def test_padding_gets_nothing_and_texts_do_not_depend_on_each_other():
    subject = reader("bert")
    batch = subject.encode(EXAMPLES)
    found, alone = explained(subject, batch), explained(subject, subject.encode(EXAMPLES[1:2]))
    assert not found.scores[~batch.mask.numpy()].any()
    assert_allclose(found.words(1), alone.words(0), atol=1e-4)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"baseline": "noise"}, "no baseline 'noise'; choose from: zero, padding"),
        ({"steps": 0}, "steps are from 1 to most_steps; got 0 and 1024"),
        ({"steps": 9, "most_steps": 8}, "steps are from 1 to most_steps; got 9 and 8"),
        ({"small": -1.0}, "a delta is small as a part of the change, above 0; got -1"),
    ],
)
def test_choices_that_do_not_exist(options, complaint):
    subject = reader("bert")
    with pytest.raises(BadConfig, match=complaint):
        explained(subject, subject.encode(EXAMPLES), **options)
