"""The loss of an adversary: beside scipy and slow loops; what it is taught, and what it starts from."""

import numpy as np
import pytest
import torch
from scipy.special import rel_entr
from torch.testing import assert_close

from support import zoo
from support.tokenizing import reader, wordpiece
from whence.core.errors import BadConfig
from whence.data.examples import Example
from whence.data.synthetic import reviews
from whence.subject.subject import Subject, load
from whence.training.adversarial import Adversarial, AdversarialObjective, jsd, kl, observe, real_rows
from whence.training.config import Training
from whence.training.train import start, train

TEXTS = [Example(text, "LABEL_0") for text in ("the movie was good", "a bad story . the film was not good !", "bad")]
FAMILIES = ["additive-lstm-additive", "bert", "transformer-tagger", "hierarchical", "disan-tags"]


def other(name: str) -> Subject:
    """The same architecture with other weights."""
    model = zoo.BY_NAME[name].build()
    with torch.no_grad():
        torch.manual_seed(1)
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return Subject(model, wordpiece(), name=name)


def adversarial(**options) -> Adversarial:
    return Adversarial(**{"base": "b", "fingerprint": "f", "strength": 1.0, **options})


def rows(subject: Subject, base: Subject, batch):
    """Every real row of both models: (example, cells of the site, own row, base's row)."""
    with torch.no_grad():
        own, theirs = observe(subject, batch).calls, observe(base, batch).calls
    for site, call in own.items():
        for b, h, q in np.ndindex(*call.weights.shape[:3]):
            yield (
                site,
                b,
                bool(real_rows(call, batch)[b, q]),
                *(one[site].weights[b, h, q].double().numpy() for one in (own, theirs)),
            )


def by_scipy(kind: str, p, q) -> float:
    m = (p + q) / 2
    if kind == "jsd":
        return float(rel_entr(p, m).sum() + rel_entr(q, m).sum()) / 2
    return float(rel_entr(p, q).sum() if kind == "kl" else rel_entr(q, p).sum())


@pytest.mark.parametrize("kind", ["jsd", "kl", "kl_from_base"])
@pytest.mark.parametrize("name", FAMILIES)
def test_divergence_is_the_mean_over_real_rows_of_what_scipy_says(name, kind):
    base, subject = reader(name), other(name)
    batch = subject.encode(TEXTS)
    found: dict = {}
    for site, b, real, p, q in rows(subject, base, batch):
        if real:
            found.setdefault(site, {}).setdefault(b, []).append(by_scipy(kind, p, q))
    wanted = np.mean([np.mean([np.mean(one.get(b, [0.0])) for b in range(len(batch))]) for one in found.values()])
    objective = AdversarialObjective(base, adversarial(divergence=kind))
    with torch.no_grad():
        value = objective.divergence(observe(subject, batch), observe(base, batch), batch, subject)
    assert value.item() == pytest.approx(wanted, rel=1e-4)


def test_the_mean_over_cells_is_that_of_torch_with_padding_and_all():
    base, subject = reader("bert"), other("bert")
    batch = subject.encode(TEXTS)
    with torch.no_grad():
        own, theirs = observe(subject, batch), observe(base, batch)
        value = AdversarialObjective(base, adversarial(divergence="kl", average_over="cells")).divergence(
            own, theirs, batch, subject
        )
    losses = []
    for site, call in own.calls.items():
        base_logs = theirs.calls[site].weights.clamp_min(1e-38).log()
        losses.append(torch.nn.functional.kl_div(base_logs, call.weights, reduction="none").mean())
    assert_close(value, torch.stack(losses).mean(), rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("average_over", ["rows", "sums"])
@pytest.mark.parametrize("kind", ["hard", "tvd", "kl"])
@pytest.mark.parametrize("name", ["additive-lstm-additive", "transformer-tagger"])
def test_distance_is_over_the_answers(name, kind, average_over):
    base, subject = reader(name), other(name)
    batch = subject.encode(TEXTS)
    p, q = (one.predict(batch).double().numpy() for one in (subject, base))
    each = []
    for b, position in zip(*np.nonzero(batch.predicted_positions.numpy()), strict=True):
        own, theirs = p[b, position], q[b, position]
        each.append(
            {
                "hard": -np.log(own[theirs.argmax()]),
                "tvd": abs(own - theirs).sum() / 2,
                "kl": rel_entr(theirs, own).sum(),
            }[kind]
        )
    objective = AdversarialObjective(base, adversarial(distance=kind, average_over=average_over))
    with torch.no_grad():
        value = objective.distance(observe(subject, batch), observe(base, batch), batch)
    assert value.item() == pytest.approx(np.sum(each) if average_over == "sums" else np.mean(each), rel=1e-4)


def test_the_loss_is_distance_less_strength_times_divergence_and_the_score_is_minus_it():
    base, subject = reader("bert"), other("bert")
    objective, batch = AdversarialObjective(base, adversarial(strength=0.7)), subject.encode(TEXTS)
    with torch.no_grad():
        own, theirs = observe(subject, batch), observe(base, batch)
        wanted = objective.distance(own, theirs, batch) - 0.7 * objective.divergence(own, theirs, batch, subject)
        assert_close(objective.loss(subject, batch), wanted)
    assert objective.score(subject, TEXTS, 8, None) == pytest.approx(-wanted.item(), rel=1e-5)
    objective.loss(subject, batch).backward()
    assert any(p.grad is not None and p.grad.abs().sum() > 0 for p in subject.model.parameters())
    subject.model.zero_grad()


def test_what_the_base_says_is_kept_while_there_is_room_and_as_long_as_its_batch():
    base, subject = reader("bert"), other("bert")
    objective, batch = AdversarialObjective(base, adversarial()), subject.encode(TEXTS)
    first = objective._of_base(batch)
    assert objective._of_base(batch) is first
    del batch
    assert len(objective.cached) == 0
    objective.bytes_left = 0
    assert len(objective.cached) == 0
    assert objective._of_base(subject.encode(TEXTS)) is not first


def test_divergences_have_finite_gradients_where_weights_are_zero():
    p = torch.tensor([[0.0, 1.0], [0.5, 0.5]], requires_grad=True)
    q = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    for measure in (kl, jsd):
        (gradient,) = torch.autograd.grad(measure(p, q).sum(), p)
        assert torch.isfinite(gradient).all()
    assert_close(jsd(p, q)[0], torch.tensor(2.0).log())


def test_a_translator_has_no_adversary():
    with pytest.raises(BadConfig, match="predicts classes of a text or of its words"):
        AdversarialObjective(
            reader("transformer-seq2seq") if "transformer-seq2seq" in zoo.BY_NAME else reader("bart"), adversarial()
        )


@pytest.fixture(scope="module")
def corpus():
    return reviews.load(sizes={"train": 200, "dev": 60, "test": 60})


@pytest.fixture(scope="module")
def base(corpus, tmp_path_factory):
    training = Training(
        data="reviews", encoder="average", embedding_size=16, hidden_size=16, epochs=4, learning_rate=1e-2
    )
    folder = tmp_path_factory.mktemp("base") / "m"
    return training, train(training, folder, corpus=corpus, quiet=True)


def test_an_opponent_attends_otherwise_the_more_the_stronger_it_is_told_to(base, corpus, tmp_path):
    training, subject = base
    apart = []
    for strength in (0.0, 2.0):
        told = Adversarial(base=subject.name, fingerprint=subject.fingerprint, strength=strength)
        trained = train(
            training.with_options({"adversarial": told}), tmp_path / str(strength), corpus=corpus, quiet=True
        )
        batch = subject.encode(corpus["test"])
        with torch.no_grad():
            objective = AdversarialObjective(subject, told)
            apart.append(objective.divergence(observe(trained, batch), observe(subject, batch), batch, trained).item())
    assert apart[1] > apart[0] + 0.1
    assert load(tmp_path / "2.0").fingerprint == trained.fingerprint


def test_an_opponent_may_begin_as_its_base(base, corpus):
    training, subject = base
    told = Adversarial(base=subject.name, fingerprint=subject.fingerprint, strength=1.0, start="base")
    beginning, objective = start(training.with_options({"adversarial": told}), corpus)
    assert beginning.fingerprint == subject.fingerprint
    assert isinstance(objective, AdversarialObjective)
    assert beginning.model is not objective.base.model


def test_a_base_that_has_changed_is_refused(base, corpus):
    training, subject = base
    told = Adversarial(base=subject.name, fingerprint="of another", strength=1.0)
    with pytest.raises(BadConfig, match="another model"):
        start(training.with_options({"adversarial": told}), corpus)


def test_the_folder_of_the_base_is_not_in_the_cache_key_of_an_adversary(base, corpus):
    training, _subject = base
    ids = [training.with_options({"adversarial": adversarial(base=where)}).cache_key(corpus) for where in ("a", "b")]
    assert ids[0] == ids[1] != training.cache_key(corpus)
    assert training.cache_key(corpus)["adversarial"] is None
