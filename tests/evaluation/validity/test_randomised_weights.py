"""Weights re-initialised from the output down: the order of parts by hand, correlations compared with scipy."""

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

from support.contexts import context as context_of
from whence.attribution.registry import explainer
from whence.core.errors import BadConfig
from whence.evaluation.retraining import with_random_weights
from whence.evaluation.validity import randomised_weights as randomised
from whence.evaluation.validity.model_copy import copied
from whence.subject.targets import predicted

EMBEDDINGS = [f"bert.embeddings.{name}" for name in ("word_embeddings", "token_type_embeddings", "position_embeddings")]
REST = ["bert.embeddings.LayerNorm", "bert.encoder.layer.0", "bert.encoder.layer.1", "bert.pooler.dense", "classifier"]


def test_spearman_is_scipy_s():
    rng = np.random.default_rng(0)
    for _ in range(5):
        one, other = rng.integers(0, 6, (2, 12)).astype(float)  # with ties
        assert randomised.spearman(one, other) == pytest.approx(spearmanr(one, other).statistic)
    assert np.isnan(randomised.spearman(np.ones(4), np.arange(4.0)))
    assert randomised.spearman(np.arange(4.0), np.ones(4)) == 0.0
    assert np.isnan(randomised.spearman(np.arange(2.0), np.arange(2.0)))


def test_parts_are_in_the_order_in_which_they_run():
    some = context_of("bert")
    parts = randomised.parts_in_order(some.subject, some.first_batch())
    assert [place for place, _ in parts] == [*EMBEDDINGS, *REST]
    every = [name for _, names in parts for name in names]
    assert sorted(every) == sorted(name for name, _ in some.subject.model.named_parameters())
    assert dict(parts)["classifier"] == {"classifier.weight", "classifier.bias"}


def test_stages_go_from_the_output_to_the_whole_model():
    some = context_of("bert")
    stages = randomised.stages(some.subject, some.first_batch(), 3)
    assert [stage.place for stage in stages] == ["classifier", REST[0], EMBEDDINGS[0]]
    assert stages[0].parameters == {"classifier.weight", "classifier.bias"}
    assert stages[0].parameters < stages[1].parameters < stages[2].parameters == set(some.subject.model.state_dict())
    assert len(randomised.stages(some.subject, some.first_batch(), 99)) == len([*EMBEDDINGS, *REST])


def test_a_tied_output_layer_is_re_initialised_with_the_word_vectors():
    some = context_of("speaker")
    model = some.subject.model
    assert model.lm_head.weight is model.transformer.wte.weight
    first, *_ = randomised.stages(some.subject, some.first_batch(), 2)
    assert "lm_head.weight" not in first.parameters
    assert "transformer.wte.weight" not in first.parameters


def test_a_cascade_by_a_slow_loop_leaves_the_model_as_it_was():
    some = context_of("bert", n=3)
    before = some.subject.fingerprint
    methods = ("raw_attention", "gradient_x_input", "random")
    found = list(randomised.cascade(some, methods, 2))
    assert some.subject.fingerprint == before
    assert len(found) == 3 * 3 * 2
    heads = [one for one in found if (one.stage, one.method) == (0, "raw_attention")]
    assert [one.correlation for one in heads] == pytest.approx([1.0] * 3)  # the classifier comes after the attention
    other = with_random_weights(some.subject, some.seed + 1)
    for number, example in enumerate(some.examples):
        batch = some.subject.encode([example])
        target, words = predicted(some.subject, batch, "margin"), ~batch.special[0].numpy()
        own, random = (
            np.abs(explainer("gradient_x_input")(subject, batch, target).scores[0][words])
            for subject in (some.subject, other)
        )
        (last,) = (o for o in found if (o.stage, o.method, o.example) == (1, "gradient_x_input", number))
        assert last.correlation == pytest.approx(spearmanr(own, random).statistic, abs=1e-6)


def test_random_scores_are_drawn_anew_at_each_stage():
    found = [one.correlation for one in randomised.cascade(context_of("bert", n=3), ("random",), 3)]
    assert max(map(abs, found)) < 0.95


@pytest.mark.parametrize("kind", ["bert", "additive", "tagger", "translator", "speaker"])
def test_a_copy_predicts_as_the_model_and_is_another_one(kind):
    some = context_of(kind)
    batch = some.first_batch()
    copy = copied(some.subject, batch)
    torch.testing.assert_close(copy.predict(batch), some.subject.predict(batch), atol=1e-5, rtol=0)
    with torch.no_grad():
        for parameter in copy.model.parameters():
            parameter.zero_()
    assert any(bool(parameter.any()) for parameter in some.subject.model.parameters())


def test_a_model_that_its_weights_do_not_determine_is_refused(monkeypatch):
    some = context_of("bert")
    own = some.subject.logits
    monkeypatch.setattr(some.subject, "logits", lambda batch: own(batch) + 1.0)
    with pytest.raises(BadConfig, match="with the same weights predicts something else"):
        copied(some.subject, some.first_batch())
