"""Fitting: the best epoch is kept, the seed decides everything, and a run that was cut off goes on as if it had not."""

import copy

import pytest
import torch
from torch.testing import assert_close

from whence.core.attending import attending
from whence.core.errors import BadData
from whence.core.overrides import random, uniform
from whence.data.synthetic import stories
from whence.subject.metrics import accuracy, scores
from whence.training import batching
from whence.training import fit as fitting
from whence.training.batching import by_length
from whence.training.config import Training
from whence.training.fit import fit
from whence.training.init import untrained
from whence.training.recipe import Recipe, parameter_groups, rate

RECIPE = Recipe(epochs=4, batch_size=12, learning_rate=1e-2, patience=4)


@pytest.fixture(scope="module")
def corpus():
    return stories.load(sizes={"train": 48, "dev": 16, "test": 32})


@pytest.fixture
def subject(corpus):
    return untrained(
        Training(data="stories", encoder="average", attention="dot", embedding_size=8, hidden_size=8), corpus
    )


def weights(subject):
    return {name: tensor.clone() for name, tensor in subject.model.state_dict().items()}


def fitted(subject, corpus, recipe=RECIPE, **options):
    progress = fit(subject, corpus["train"], corpus["dev"], recipe, quiet=True, **options)
    return progress, weights(subject)


def test_same_seed_same_weights_other_seed_others(subject, corpus):
    twin, other = copy.deepcopy(subject), copy.deepcopy(subject)
    one, first = fitted(subject, corpus)
    torch.manual_seed(12345)  # what was drawn before is of no account
    two, second = fitted(twin, corpus)
    assert vars(one) == vars(two)
    assert_close(first, second, atol=0, rtol=0)
    _, third = fitted(other, corpus, Recipe(**{**vars(RECIPE), "seed": 1}))
    assert any((first[name] - third[name]).abs().max() > 1e-3 for name in first)


def test_the_draws_of_others_are_left_alone(subject, corpus):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    fitted(subject, corpus, Recipe(epochs=1))
    assert_close(torch.rand(3), expected)


@pytest.mark.parametrize("override", [None, lambda generator: random(generator)])
@pytest.mark.parametrize("after", [1, 3])
def test_a_run_that_breaks_off_goes_on_as_if_it_had_not(subject, corpus, tmp_path, monkeypatch, after, override):
    again = copy.deepcopy(subject)
    fresh = copy.deepcopy(subject)
    whole, expected = fitted(subject, corpus, override=override)
    true_epoch = fitting._epoch

    def breaking(subject, batches, recipe, optimizer, epoch, *others):
        if epoch == after:
            true_epoch(subject, batches[:2], recipe, optimizer, epoch, *others)  # half an epoch is done, then lost
            raise KeyboardInterrupt
        return true_epoch(subject, batches, recipe, optimizer, epoch, *others)

    checkpoint = tmp_path / "checkpoint.pt"
    monkeypatch.setattr(fitting, "_epoch", breaking)
    with pytest.raises(KeyboardInterrupt):
        fitted(again, corpus, checkpoint=checkpoint, override=override)
    monkeypatch.undo()
    progress, found = fitted(fresh, corpus, checkpoint=checkpoint, override=override)
    assert progress.losses == pytest.approx(whole.losses, abs=1e-7)
    assert progress.scores == whole.scores
    assert_close(found, expected, atol=1e-6, rtol=0)


def test_more_epochs_go_on_from_fewer(subject, corpus, tmp_path):
    fresh, expected_of = copy.deepcopy(subject), copy.deepcopy(subject)
    fitted(subject, corpus, Recipe(**{**vars(RECIPE), "epochs": 2}), checkpoint=tmp_path / "c.pt")
    progress, found = fitted(fresh, corpus, checkpoint=tmp_path / "c.pt")
    whole, expected = fitted(expected_of, corpus)
    assert vars(progress) == vars(whole)
    assert_close(found, expected, atol=1e-6, rtol=0)


def told(monkeypatch, shares):
    """Dev scores as told, and the weights after each epoch."""
    seen, shares = [], iter(shares)

    def share(subject, examples, batch_size, override):
        seen.append(weights(subject))
        return next(shares)

    monkeypatch.setattr(fitting, "score", share)
    return seen


def test_the_best_epoch_is_kept_and_patience_ends_it(subject, corpus, monkeypatch):
    seen = told(monkeypatch, [0.3, 0.6, 0.6, 0.5, 0.9])
    progress, found = fitted(subject, corpus, Recipe(epochs=9, patience=2))
    assert (progress.epoch, progress.best, progress.scores) == (4, 0.6, [0.3, 0.6, 0.6, 0.5])
    assert_close(found, seen[1], atol=0, rtol=0)
    assert any((seen[1][name] - seen[3][name]).abs().max() > 0 for name in found)


def test_a_run_that_stopped_early_is_not_taken_further(subject, corpus, monkeypatch, tmp_path):
    fresh = copy.deepcopy(subject)
    seen = told(monkeypatch, [0.6, 0.5, 0.5])
    fitted(subject, corpus, Recipe(epochs=9, patience=2), checkpoint=tmp_path / "c.pt")
    progress, found = fitted(fresh, corpus, Recipe(epochs=9, patience=2), checkpoint=tmp_path / "c.pt")
    assert progress.epoch == len(seen) == 3
    assert_close(found, seen[0], atol=0, rtol=0)


def test_overrides_are_active_in_training_and_on_dev(subject, corpus):
    plain, modes = copy.deepcopy(subject), []

    def watch(call):
        modes.append(subject.model.training)
        share = call.mask / call.mask.sum(-1, keepdim=True)
        assert_close(call.weights, share.expand_as(call.weights))

    with attending(subject.model, watch=watch):
        _, altered = fitted(subject, corpus, Recipe(epochs=1), override=lambda _: uniform)
    assert set(modes) == {True, False}
    before = weights(plain)
    assert_close(altered["score.query.weight"], before["score.query.weight"])  # uniform weights teach it nothing
    assert (altered["decoder.classify.weight"] - before["decoder.classify.weight"]).abs().max() > 0


def test_random_attention_is_drawn_anew_in_every_epoch(subject, corpus):
    seen = []

    def override(generator):
        seen.append(generator.get_state())
        return random(generator)

    fitted(subject, corpus, Recipe(epochs=2), override=override)
    assert len({state.numpy().tobytes() for state in seen}) == 4  # two epochs, train and dev


def test_decay_on_all_but_what_scores_the_attention_and_makes_its_query(subject):
    decayed, spared = parameter_groups(subject.model, Recipe(weight_decay=0.3))
    names = {id(parameter): name for name, parameter in subject.model.named_parameters()}
    assert (decayed["weight_decay"], spared["weight_decay"]) == (0.3, 0.0)
    assert {names[id(p)] for p in spared["params"]} == {
        *("score.query.weight", "score.query.bias", "question.project.weight", "question.project.bias")
    }
    assert len(decayed["params"]) + len(spared["params"]) == len(names)


def test_a_parameter_that_gets_no_gradient_decays(subject, corpus):
    """One step of Adam on a gradient of λ w alone: w falls by the learning rate, towards zero; spared ones stay."""
    model = subject.model
    model.decoder.classify.weight.data[:] = 0.0  # no gradient reaches beyond the decoder
    before = weights(subject)
    fitted(subject, corpus, Recipe(epochs=1, batch_size=64, learning_rate=1e-3, weight_decay=0.1))
    after = weights(subject)
    moved = before["encoder.project.weight"] - after["encoder.project.weight"]
    assert_close(moved, 1e-3 * before["encoder.project.weight"].sign(), atol=1e-5, rtol=0)
    assert_close(after["score.query.weight"], before["score.query.weight"], atol=0, rtol=0)


def test_batches_hold_every_text_once_and_like_lengths_together(corpus, generator, monkeypatch):
    monkeypatch.setattr(batching, "POOL", 2)
    batches = by_length(corpus["train"], 10, generator)
    assert sorted(number for batch in batches for number in batch) == list(range(48))
    lengths = [[len(corpus["train"][number].text) for number in batch] for batch in batches]
    for pool in (lengths[:2], lengths[2:4], lengths[4:]):  # two batches sorted together
        flat = [length for batch in pool for length in batch]
        assert flat == sorted(flat)


def test_accuracy_is_the_share_of_right_answers(subject, corpus):
    right = 0
    for example in corpus["test"]:
        probs = subject.predict(subject.encode([example]))[0, 0]
        right += subject.labels[int(probs.argmax())] == example.label
    assert accuracy(subject, corpus["test"], 7) == pytest.approx(right / 32)


def test_scores_count_each_example_alike():
    probs = torch.tensor([[[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], [[0.1, 0.9], [0.5, 0.4], [0.5, 0.4]]])
    answers = torch.tensor([[True, True, True], [True, False, False]])
    gold = torch.tensor([[0, 0, 0], [1, -1, -1]])
    assert_close(scores(probs, answers, gold), torch.tensor([2 / 3, 1.0]))


def test_nothing_to_learn_from_is_refused(subject, corpus):
    with pytest.raises(BadData, match="fitting needs examples to train on and to select by; came 48 and 0"):
        fit(subject, corpus["train"], (), RECIPE)


def test_the_rate_cools_down_at_the_end():
    recipe = Recipe(epochs=10, schedule="cool-down", cool_down=4)
    assert [rate(recipe, epochs, 7) for epochs in (0.5, 6.0, 7.0, 9.0, 10.0)] == [1.0, 1.0, 0.75, 0.25, 0.0]
