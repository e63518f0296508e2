"""Gradient × input and random scores, and what holds for every explainer."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch.testing import assert_close

from support import zoo
from support.explained import EXAMPLES, tape_of
from support.models.additive import WORDED, additive
from support.tokenizing import is_reader, reader, wordpiece
from whence.attribution.registry import about, explainer, names
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.core.overrides import uniform
from whence.data.examples import Example
from whence.subject.subject import Subject
from whence.subject.targets import Target, predicted

# gradient × input


def test_closed_form_where_the_answer_is_linear_in_a_words_state():
    """Average encoder, uniform attention: logit = W (1/n) Σ tanh(P x + b) + c, so each word's score is known."""
    subject = additive(encoder="average")
    batch = subject.encode(WORDED)
    target = Target(torch.tensor([0, 1, 0]), torch.zeros(3, dtype=torch.long), "logit")
    with attending(subject.model, override=uniform, watch=None):
        found = explainer("gradient_x_input")(subject, batch, target)
    model = subject.model
    x = model.embeddings.weight[batch.inputs["input_ids"]].detach()
    project, classify = model.encoder.project, model.decoder.classify
    slope = 1 - torch.tanh(project(x)) ** 2  # [batch token width]
    along = torch.einsum("bth,he,bte->bth", slope, project.weight, x)
    expected = torch.einsum("bth,bh->bt", along, classify.weight[target.classes]).detach()
    counted = torch.where(batch.special, 0.0, expected) / (~batch.special).sum(1, keepdim=True)
    assert_allclose(found.scores, counted, atol=1e-6)
    assert found.signed


@pytest.mark.parametrize("measure", ["logit", "probability", "margin"])
@pytest.mark.parametrize("through", [True, False])
def test_against_differences_of_the_answer(measure, through):
    """y(x + ε x_t) − y(x − ε x_t) over 2ε, the word vector x_t of one token at a time, in double precision."""
    subject = additive(encoder="lstm", attention="additive")
    batch = subject.encode(WORDED)
    target = predicted(subject, batch, measure)
    found = explainer("gradient_x_input")(subject, batch, target, through_attention=through)
    kept = tape_of(subject, batch).only("attention").weights
    x = subject.model.embeddings.weight[batch.inputs["input_ids"]].detach()

    @torch.no_grad()
    def answer(vectors):
        held = None if through else (lambda call: kept)
        with attending(subject.model, override=held, watch=None):
            return target.of(subject.task.positioned(subject.model(**batch.inputs, inputs_embeds=vectors).logits))

    for place in range(x.shape[1]):
        step = torch.zeros_like(x)
        step[:, place] = 1e-5 * x[:, place]
        slope = (answer(x + step) - answer(x - step)) / 2e-5
        assert_allclose(found.scores[:, place], slope, atol=1e-6)
    assert ("held fixed" in found.how) != through


def test_holding_attention_fixed_makes_a_difference_and_leaves_no_gradient_behind():
    subject = additive()
    batch = subject.encode(WORDED)
    target = predicted(subject, batch)
    free, held = (explainer("gradient_x_input")(subject, batch, target, through_attention=t) for t in (True, False))
    assert np.abs(free.scores - held.scores).max() > 1e-4
    assert all(parameter.grad is None for parameter in subject.model.parameters())


def test_without_gradients_around_it():
    subject = additive()
    batch = subject.encode(WORDED)
    with torch.no_grad():
        assert explainer("gradient_x_input")(subject, batch, predicted(subject, batch)).scores.any()


# random


def test_random_scores_follow_from_seed_and_example_alone():
    subject = reader("bert")
    batch, alone = subject.encode(EXAMPLES, [4, 9, 2]), subject.encode(EXAMPLES[1:2], [9])
    one, again, other = (
        explainer("random")(subject, batch, predicted(subject, batch), seed=s).scores for s in (0, 0, 1)
    )
    assert_allclose(one, again)
    assert np.abs(one - other).min(1).max() > 0
    by_itself = explainer("random")(subject, alone, predicted(subject, alone)).scores[0]
    assert_allclose(one[1, : len(by_itself)], by_itself)
    assert not np.allclose(one[0], one[2])


def test_random_scores_are_uniform():
    subject = reader("bert")
    batch = subject.encode([Example("good " * 20)] * 60)
    scores = explainer("random")(subject, batch, predicted(subject, batch)).scores
    assert scores.mean() == pytest.approx(0.5, abs=4 * np.sqrt(1 / 12 / scores.size))
    assert scores.var() == pytest.approx(1 / 12, rel=0.1)
    assert ((scores >= 0) & (scores < 1)).all()


def test_random_scores_of_words_are_those_of_their_first_pieces():
    subject = reader("bert")
    batch = subject.encode([Example("unbelievable movies !", pair="good movies"), Example("a", pair="a")])
    found = explainer("random")(subject, batch, predicted(subject, batch))
    first, s = found.of_first_subwords(), found.scores
    assert_allclose(first.words(0), [s[0, 1], s[0, 4], s[0, 6]])
    assert_allclose(first.words(0, segment=1), [s[0, 8], s[0, 9]])
    assert_allclose(first.words(1, segment=1), [s[1, 3]])
    assert_allclose(first.scores[found.special], s[found.special])


# all of them


@pytest.mark.parametrize("name", zoo.representatives(filter(is_reader, zoo.EVERY)))
def test_every_family_is_explained_in_company_as_it_is_alone(name):
    subject = reader(name)
    pair = "a film ?" if getattr(subject.model.config, "pairs", False) else None
    examples = [Example("the movie was good", pair=pair, target="a film"), Example("not bad", pair=pair, target="a")]
    together, alone = subject.encode(examples), subject.encode(examples[1:])
    target = predicted(subject, together)
    for method in ("raw_attention", "gradient_x_input"):  # leaving out has a slow loop of its own above
        found = explainer(method)(subject, together, target)
        assert np.isfinite(found.scores).all()
        one = explainer(method)(subject, alone, predicted(subject, alone))
        assert_allclose(found.words(1), one.words(0), atol=5e-5)
        assert_allclose(found.words(1, segment=1), one.words(0, segment=1), atol=5e-5)
        assert found.words(1).any() or (name, method) == ("disan-tags", "raw_attention")  # the last word sees no future


def test_words_are_the_sums_of_their_pieces():
    subject = reader("bert")
    batch = subject.encode([Example("unbelievable movies !", pair="good movies"), Example("a", pair="bad")])
    found = explainer("random")(subject, batch, predicted(subject, batch))
    s = found.scores[0]
    assert_allclose(found.words(0), [s[1] + s[2] + s[3], s[4] + s[5], s[6]], rtol=1e-6)
    assert_allclose(found.words(0, segment=1), [s[8], s[9] + s[10]], rtol=1e-6)
    assert_allclose(found.words(1), [found.scores[1, 1]])
    shown = ["un", "##believ", "##able", "movie", "##s", "!", "good", "movie", "##s"]
    assert [token for token, _ in found.text(0)] == shown
    assert [score for _, score in found.text(1)] == pytest.approx([found.scores[1, 1], found.scores[1, 3]])


def test_methods_by_name():
    assert names() == (
        "attention_gradient",
        "attention_norm",
        "decomposition",
        "effective_attention",
        "flow",
        "flow_bound",
        "gradient_squared",
        "gradient_x_input",
        "integrated_gradients",
        "lat",
        "lat_mixed",
        "leave_one_out",
        "random",
        "raw_attention",
        "rollout",
        "sinks",
        "value_zeroing",
    )
    assert explainer("raw-attention") is explainer("raw_attention")
    with pytest.raises(
        BadConfig, match=r"no explainer 'raw_atention' \(did you mean raw_attention\?\); choose from: att"
    ):
        explainer("raw_atention")
    with pytest.raises(BadConfig, match="no explainer 'zzz'; choose from"):
        explainer("zzz")
    assert all(about(name).endswith((".", "?")) for name in names())


def test_scores_of_low_precision_come_as_numbers(bfloat16):
    subject = Subject(zoo.BY_NAME["bert"].build(bfloat16), wordpiece())
    batch = subject.encode(EXAMPLES)
    for method in names():
        assert explainer(method)(subject, batch, predicted(subject, batch)).scores.dtype == np.float32
    assert_close(subject.predict(batch).sum(-1), torch.ones(3, 1))
