"""Guided models: what is imposed is exactly what the source has, in training and testing, and the same every time."""

import pytest
import torch
from torch.testing import assert_close

from support import zoo
from support.tokenizing import reader, wordpiece
from support.trainings import SMALL
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.data.examples import Example
from whence.data.synthetic import clauses
from whence.subject.subject import Subject, load
from whence.training.adversarial import observe
from whence.training.config import Training
from whence.training.guided import Guided, GuidedBy, paired
from whence.training.train import guided, start, train

TEXTS = [Example(text, "LABEL_0") for text in ("the movie was good", "a bad story . the film was not good !")]


def watched(subject, batch):
    """The weights that a subject really used when it was asked."""
    with torch.no_grad():
        return {site: call.weights for site, call in observe(subject, batch).calls.items()}


@pytest.fixture(scope="module")
def base(few_reviews, tmp_path_factory):
    return SMALL, train(SMALL, tmp_path_factory.mktemp("base") / "m", corpus=few_reviews, quiet=True)


def guided_by(subject, source="base") -> GuidedBy:
    return GuidedBy(base=subject.name, fingerprint=subject.fingerprint, source=source)


@pytest.mark.parametrize("encoder", ["lstm", "average"])
def test_the_imposed_attention_is_the_sources_exactly_while_training_and_testing(
    base, few_reviews, tmp_path, encoder, monkeypatch
):
    training, subject = base
    told = training.with_options({"encoder": encoder, "seed": 3, "guided_by": guided_by(subject)})
    used, wanted = [], []

    class Watching(Guided):
        def logits(self, batch):
            with attending(self.model, override=self.rules(batch)) as tape:
                logits = self.task.positioned(self.model(**batch.inputs).logits)
            used.append(tape.only("attention").weights.detach())
            wanted.append(watched(subject, batch)["attention"])
            return logits

    with monkeypatch.context() as patch:
        patch.setattr("whence.training.train.Guided", Watching)
        trained = train(told, tmp_path / encoder, corpus=few_reviews, quiet=True)
    assert len(used) > 10
    for one, other in zip(used, wanted, strict=True):
        assert torch.equal(one, other)
    batch = subject.encode(few_reviews["test"])
    again = train(told, tmp_path / encoder, corpus=few_reviews, quiet=True)  # from its folder
    assert isinstance(again, Guided)
    assert_close(again.predict(batch), trained.predict(batch))
    assert torch.equal(watched(again, batch)["attention"], watched(subject, batch)["attention"])
    bare = load(tmp_path / encoder)
    assert not torch.equal(watched(bare, batch)["attention"], watched(subject, batch)["attention"])


@pytest.mark.parametrize("source", ["uniform", "random", "permuted"])
@pytest.mark.parametrize("name", ["additive-lstm-additive", "bert", "transformer-tagger"])
def test_other_sources_are_distributions_and_the_same_every_time(name, source):
    subject = reader(name)
    batch = subject.encode(TEXTS)
    base = Subject(zoo.BY_NAME[name].build(), wordpiece(), name=name)
    guided = Guided(subject, base, source, seed=1)
    first, second = watched(guided, batch), watched(guided, subject.encode(TEXTS))
    own = watched(subject, batch)
    for site in own:
        assert torch.equal(first[site], second[site])
        assert not torch.allclose(first[site], own[site])
        assert_close(first[site].sum(-1), own[site].sum(-1))
    if source == "permuted":
        for site, weights in first.items():
            assert_close(weights.sort(-1).values, own[site].sort(-1).values)
        assert not torch.equal(watched(Guided(subject, base, source, seed=2), batch)[site], first[site])


def test_only_what_is_imposed_matters_to_the_scores_of_a_guided_model(base, few_reviews):
    training, subject = base
    guided, _ = start(training.with_options({"guided_by": guided_by(subject), "seed": 5}), few_reviews)
    batch = guided.encode(few_reviews["dev"][:8])
    before = guided.predict(batch)
    with torch.no_grad():
        for name, parameter in guided.model.named_parameters():
            if name.startswith("score."):
                parameter += 1.0
    assert torch.equal(guided.predict(batch), before)


def test_a_tagger_of_single_words_is_guided_by_the_last_layer(tmp_path):
    corpus = clauses.load(sizes={"train": 40, "dev": 10, "test": 10}, task="parents")
    training = Training(model="transformer", data="clauses:parents", hidden_size=16, layers=2, heads=2, epochs=1)
    base = train(training, tmp_path / "base", corpus=corpus, quiet=True)
    told = Training(
        model="weighted",
        data="clauses:parents",
        hidden_size=8,
        embedding_size=8,
        heads=2,
        epochs=1,
        guided_by=guided_by(base),
    )
    guided = train(told, tmp_path / "guided", corpus=corpus, quiet=True)
    batch = guided.encode(corpus["test"])
    assert paired(guided, base) == {"attention": "encoder.layers.1.self_attention"}
    assert torch.equal(watched(guided, batch)["attention"], watched(base, batch)["encoder.layers.1.self_attention"])


def test_sites_that_do_not_fit_are_refused():
    with pytest.raises(BadConfig, match="expected the same ones"):
        paired(reader("bert"), reader("additive-lstm-additive"))


def test_a_model_that_was_not_guided_is_as_it_is(base):
    training, subject = base
    assert guided(subject, training) is subject
