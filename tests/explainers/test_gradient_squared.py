"""The squared gradient, against a closed form and against differences of the answer."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from support.models.additive import WORDED, additive
from support.tokenizing import reader
from whence.attribution.registry import explainer
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.core.overrides import uniform
from whence.data.examples import Example
from whence.subject.targets import Target, predicted

EXPLAIN = explainer("gradient_squared")
WINDOWS = ("the movie was good", "bad", "not a good film")
NARRATIVE = Example(" ".join(WINDOWS), windows=WINDOWS)


def test_closed_form_where_the_logit_is_linear_in_a_words_state():
    """Average encoder, uniform attention: logit = W (1/n) Σ tanh(P x + b) + c, so ∂/∂x = (1/n) W diag(1 − tanh²) P."""
    subject = additive(encoder="average")
    batch = subject.encode(WORDED)
    target = Target(torch.tensor([0, 1, 0]), torch.zeros(3, dtype=torch.long), "logit")
    with attending(subject.model, override=uniform, watch=None):
        found = EXPLAIN(subject, batch, target, normalize="none")
    model = subject.model
    project, classify = model.encoder.project, model.decoder.classify
    x = model.embeddings.weight[batch.inputs["input_ids"]].detach()
    slope = 1 - torch.tanh(project(x)) ** 2  # [batch token width]
    gradient = torch.einsum("bh,bth,he->bte", classify.weight[target.classes], slope, project.weight).detach()
    gradient = gradient / (~batch.special).sum(1)[:, None, None]
    assert_allclose(found.scores, torch.where(batch.special, 0.0, (gradient**2).sum(-1)), atol=1e-6)
    assert not found.signed
    assert found.how == "of the logit, normalize: none"


def answer_of(of, target, logits):
    if of == "code":
        return logits[:, 0].sigmoid().sum(1)
    return target.of(logits) if of == "predicted" else logits[torch.arange(3), 0, target.classes]


@pytest.mark.parametrize("of", ["predicted", "paper", "code"])
def test_against_differences_of_the_answer(of):
    """Σ_d ((y(x + ε e_d) − y(x − ε e_d)) / 2ε)², one dimension of one token at a time, in double precision."""
    subject = additive(encoder="lstm", attention="additive", num_labels=3)
    batch = subject.encode(WORDED)
    target = predicted(subject, batch)
    found = EXPLAIN(subject, batch, target, of=of, normalize="none")
    x = subject.model.embeddings.weight[batch.inputs["input_ids"]].detach()

    @torch.no_grad()
    def answer(vectors):
        return answer_of(
            of, target, subject.task.positioned(subject.model(**batch.inputs, inputs_embeds=vectors).logits)
        )

    expected = torch.zeros(x.shape[:2], dtype=torch.float64)
    for place, width in np.ndindex(*x.shape[1:]):
        step = torch.zeros_like(x)
        step[:, place, width] = 1e-5
        expected[:, place] += ((answer(x + step) - answer(x - step)) / 2e-5) ** 2
    assert_allclose(found.scores, expected, rtol=1e-4, atol=1e-8)
    said = {"predicted": "margin", "paper": "logit", "code": "sum of all classes' sigmoids"}[of]
    assert found.how == f"of the {said}, normalize: none"


def test_normalizations_by_hand():
    subject = additive(torch.float32)
    batch = subject.encode(WORDED)
    target = predicted(subject, batch, "logit")
    raw = EXPLAIN(subject, batch, target, normalize="none").scores.astype(float)
    for row, real in enumerate(batch.mask.numpy()):
        own, width = raw[row, real], 6
        for normalize, expected in [
            ("softmax_sum", np.exp(own) / np.exp(own).sum()),
            ("softmax_mean", np.exp(own / width) / np.exp(own / width).sum()),
            ("l1", own / own.sum()),
        ]:
            found = EXPLAIN(subject, batch, target, normalize=normalize).scores[row]
            assert_allclose(found[real], expected, atol=1e-6)
            assert not found[~real].any()


def test_a_softmax_is_over_the_tokens_that_the_model_looks_at():
    """Nothing of the ends of a text is in an averaging encoder's answer, so they take no share."""
    subject = additive(encoder="average")
    batch = subject.encode(WORDED)
    found = EXPLAIN(subject, batch, predicted(subject, batch)).scores
    assert not found[batch.special.numpy()].any()
    assert_allclose(found.sum(1), 1.0, rtol=1e-5)
    with torch.no_grad():
        subject.model.decoder.classify.weight.zero_()  # an answer that depends on nothing
    found = EXPLAIN(subject, batch, predicted(subject, batch)).scores
    assert_allclose(found, batch.mask / batch.mask.sum(1, keepdim=True), rtol=1e-6)


@pytest.mark.parametrize("name", ["bert", "xlnet", "gpt2", "llama", "bart", "hierarchical", "xlm-roberta"])
@pytest.mark.parametrize("of", ["predicted", "code"])
def test_families_in_company_as_alone(name, of):
    subject = reader(name)
    examples = [Example("the movie was good", target="a film"), Example("not bad", target="a")]
    together, alone = subject.encode(examples), subject.encode(examples[1:])
    both, one = (EXPLAIN(subject, b, predicted(subject, b), of=of, normalize="l1") for b in (together, alone))
    assert_allclose(both.words(1), one.words(0), atol=2e-4)
    assert_allclose(both.scores.sum(1), 1.0, rtol=1e-5)
    assert not both.scores[~together.mask.numpy()].any()


def test_choices_that_do_not_exist():
    subject = additive()
    batch = subject.encode(WORDED)
    for options, complaint in [
        ({"of": "loss"}, "no gradient of 'loss'; choose from: predicted, paper, code"),
        ({"normalize": "max"}, "no normalize 'max'; choose from: softmax_sum"),
    ]:
        with pytest.raises(BadConfig, match=complaint):
            EXPLAIN(subject, batch, predicted(subject, batch), **options)


def test_where_a_model_ends_in_sigmoids_the_authors_outputs_are_those():
    subject = reader("pooled-query-none-binary")
    batch = subject.encode([Example("the movie was not good"), Example("bad film")])
    found = EXPLAIN(subject, batch, predicted(subject, batch), of="code", normalize="none")
    model, (ids, mask) = subject.model, (batch.inputs[name] for name in ("input_ids", "attention_mask"))
    x = model.embeddings.weight[ids].detach().requires_grad_()
    (gradient,) = torch.autograd.grad(model.decoder(model.context(ids, mask, x)).sigmoid().sum(), x)
    assert_allclose(found.scores, (gradient**2).sum(-1), rtol=1e-4, atol=1e-9)
    assert not found.scores[batch.special.numpy()].any()


def test_of_a_narrative_the_authors_output_is_the_sum_of_all_values():
    subject = reader("pooled-series")
    batch = subject.encode([NARRATIVE, Example("bad film", windows=("bad film",))])
    found = EXPLAIN(subject, batch, predicted(subject, batch), of="code", normalize="none")
    with subject.embedded() as leaves:
        values = subject.model(**batch.inputs).logits
        (gradient,) = torch.autograd.grad(values.sum(), leaves[:1])  # zero where there is no window
    assert_allclose(found.scores, (gradient**2).sum(-1).reshape(2, -1), rtol=1e-4, atol=1e-9)
    assert found.how == "of the sum of all windows' values, normalize: none"
    shares = EXPLAIN(subject, batch, predicted(subject, batch), of="code").scores.reshape(6, -1)
    assert_allclose(shares.sum(1), [1, 1, 1, 1, 0, 0], rtol=1e-5)  # a softmax in each window; two are padding
