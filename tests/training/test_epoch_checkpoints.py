"""Along training: every epoch is shown, also the one before the first, and kept, also when the run was cut off."""

import copy
import json

import pytest
import torch
from safetensors.torch import load_file
from torch.testing import assert_close

from whence.core.errors import BadConfig
from whence.data.synthetic import clauses, stories
from whence.evaluation.context import Context
from whence.evaluation.retraining import epoch_models
from whence.subject.subject import load
from whence.training import fit as fitting
from whence.training.config import Training
from whence.training.epoch_checkpoints import kept_epochs
from whence.training.fit import fit
from whence.training.init import untrained
from whence.training.recipe import Recipe
from whence.training.record import RECORD, recorded_training
from whence.training.train import train

SMALL = Training(data="stories", encoder="average", embedding_size=8, hidden_size=8, epochs=3, learning_rate=1e-2)
KEPT = SMALL.with_options({"keep_epochs": True})


@pytest.fixture(scope="module")
def corpus():
    return stories.load(sizes={"train": 48, "dev": 16})


def breaking(after):
    """An epoch that is cut off when so many are done."""
    true_epoch = fitting._epoch

    def epoch(subject, batches, recipe, optimizer, number, *others):
        if number == after:
            true_epoch(subject, batches[:1], recipe, optimizer, number, *others)
            raise KeyboardInterrupt
        return true_epoch(subject, batches, recipe, optimizer, number, *others)

    return epoch


def watching(seen):
    def each_epoch(epoch, subject):
        assert not subject.model.training
        torch.rand(7)  # what others draw is of no account
        seen.append((epoch, {name: tensor.clone() for name, tensor in subject.model.state_dict().items()}))

    return each_epoch


def test_every_epoch_is_shown_and_nothing_changes_by_it(corpus):
    subject, recipe = untrained(SMALL, corpus), Recipe(epochs=3, batch_size=12, learning_rate=1e-2)
    twin, before = copy.deepcopy(subject), copy.deepcopy(subject.model.state_dict())
    seen: list[tuple[int, dict[str, torch.Tensor]]] = []
    watched = fit(subject, corpus["train"], corpus["dev"], recipe, each_epoch=watching(seen), quiet=True)
    plain = fit(twin, corpus["train"], corpus["dev"], recipe, quiet=True)
    assert vars(watched) == vars(plain)
    assert_close(subject.model.state_dict(), twin.model.state_dict(), atol=0, rtol=0)
    assert [epoch for epoch, _ in seen] == [0, 1, 2, 3]
    assert_close(seen[0][1], dict(before), atol=0, rtol=0)
    best = 1 + watched.scores.index(max(watched.scores))
    assert_close(seen[best][1], dict(subject.model.state_dict()), atol=0, rtol=0)


def test_no_epoch_is_missed_when_a_run_is_taken_up(corpus, tmp_path, monkeypatch):
    recipe = Recipe(epochs=3, batch_size=12, learning_rate=1e-2)
    seen: list[tuple[int, dict[str, torch.Tensor]]] = []
    again = copy.deepcopy(subject := untrained(SMALL, corpus))
    options = {"checkpoint": tmp_path / "c.pt", "each_epoch": watching(seen), "quiet": True}
    monkeypatch.setattr(fitting, "_epoch", breaking(1))
    with pytest.raises(KeyboardInterrupt):
        fit(subject, corpus["train"], corpus["dev"], recipe, **options)
    assert [epoch for epoch, _ in seen] == [0, 1]
    monkeypatch.undo()
    fit(again, corpus["train"], corpus["dev"], recipe, **options)
    assert [epoch for epoch, _ in seen] == [0, 1, 2, 3]


def test_a_callback_that_breaks_off_is_called_again_for_that_epoch(corpus, tmp_path):
    recipe = Recipe(epochs=3, batch_size=12, learning_rate=1e-2)
    seen: list[int] = []
    again = copy.deepcopy(subject := untrained(SMALL, corpus))

    def once(epoch, subject):
        seen.append(epoch)
        if seen == [0, 1, 2]:
            raise KeyboardInterrupt

    for one in (subject, again):
        try:
            fit(one, corpus["train"], corpus["dev"], recipe, checkpoint=tmp_path / "c.pt", each_epoch=once, quiet=True)
        except KeyboardInterrupt:
            continue
    assert seen == [0, 1, 2, 2, 3]


def weights(folder):
    return load_file(folder / "model.safetensors")


def test_epochs_are_kept_and_the_same_after_a_break(corpus, tmp_path, monkeypatch):
    whole = train(KEPT, tmp_path / "whole", corpus=corpus, quiet=True)
    monkeypatch.setattr(fitting, "_epoch", breaking(2))
    with pytest.raises(KeyboardInterrupt):
        train(KEPT, tmp_path / "broken", corpus=corpus, quiet=True)
    monkeypatch.undo()
    assert list(kept_epochs(tmp_path / "broken")) == [0, 1, 2]
    (tmp_path / "broken" / "epochs" / ".3").mkdir()  # as if it had been cut off while writing
    train(KEPT, tmp_path / "broken", corpus=corpus, quiet=True)
    places = kept_epochs(tmp_path / "whole")
    assert list(places) == list(kept_epochs(tmp_path / "broken")) == [0, 1, 2, 3]
    assert sorted(p.name for p in (tmp_path / "broken" / "epochs").iterdir()) == ["0", "1", "2", "3"]
    for epoch, place in places.items():
        assert_close(weights(place), weights(tmp_path / "broken" / "epochs" / str(epoch)), atol=1e-6, rtol=0)
    assert load(places[0]).fingerprint == untrained(SMALL, corpus).fingerprint
    record = json.loads((tmp_path / "whole" / RECORD).read_text())
    best = 1 + record["dev"].index(record["best"])
    assert load(places[best]).fingerprint == whole.fingerprint
    assert recorded_training(tmp_path / "whole") == KEPT


def test_keeping_epochs_is_part_of_the_cache_key(corpus, tmp_path):
    train(SMALL, tmp_path, corpus=corpus, quiet=True)
    with pytest.raises(BadConfig, match=r"another training \(these options differ: keep_epochs\)"):
        train(KEPT, tmp_path, corpus=corpus, quiet=True)


def test_epochs_that_were_not_kept_are_asked_for_in_vain(corpus, tmp_path):
    context = Context(untrained(SMALL, corpus), corpus["dev"], range(16), quiet=True)
    with pytest.raises(BadConfig, match="keeps no models of single epochs; train it with --keep-epochs"):
        next(epoch_models(context, tmp_path))


def test_no_epochs_make_a_model_that_has_learned_nothing(corpus, tmp_path):
    begun = train(SMALL.with_options({"epochs": 0}), tmp_path, corpus=corpus, quiet=True)
    assert begun.fingerprint == load(tmp_path).fingerprint == untrained(SMALL, corpus).fingerprint
    record = json.loads((tmp_path / RECORD).read_text(), parse_constant=pytest.fail)
    assert (record["dev"], record["best"]) == ([], None)


def test_the_transformer_tags_words():
    """A tag at every word, learned from few sentences; the loss of the model is that of training."""
    few = clauses.load(sizes={"train": 60, "dev": 10}, task="parents")
    subject = untrained(Training(model="transformer", data="clauses", hidden_size=16, layers=1, heads=2), few)
    assert subject.task.name == "token-classification"
    batch = subject.encode(few["dev"])
    assert subject.predict(batch).shape == (*batch.special.shape, 7)
    labels = batch.labels.masked_fill(batch.labels == -1, -100)
    own = subject.model(**batch.inputs, labels=labels).loss
    assert_close(own, fitting.loss_of(subject, batch))
    recipe = Recipe(epochs=2, learning_rate=1e-2)
    progress = fit(subject, few["train"], few["dev"], recipe, quiet=True)
    assert progress.losses[1] < progress.losses[0]
