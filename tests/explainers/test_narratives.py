"""Narratives: every window is explained by itself. Are the planted mood words found?"""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from whence.attribution.registry import explainer
from whence.core.attending import attending
from whence.core.errors import BadConfig, BadData
from whence.core.site import Call
from whence.data.examples import Example
from whence.data.synthetic import narratives
from whence.evaluation.rationale_match import parts, rationale_match
from whence.explainers.lat import traced
from whence.measures.intervals import mean_interval
from whence.subject.batch import Batch
from whence.subject.metrics import agreement
from whence.subject.targets import predicted
from whence.training.config import Training
from whence.training.init import untrained
from whence.training.train import train

SMALL = {"embedding_size": 16, "hidden_size": 16, "layers": 2, "heads": 2, "head_size": 8}
FOLLOWING = ("lat", "lat_mixed", "rollout", "raw_attention")


@pytest.fixture(scope="module")
def corpus():
    return narratives.load(sizes={"train": 60, "dev": 12, "test": 12})


@pytest.fixture(scope="module")
def subject(corpus):
    return untrained(Training(model="pooled_series", data="narratives", **SMALL), corpus)


@pytest.mark.parametrize("method", FOLLOWING)
def test_a_window_is_followed_as_if_it_stood_alone(subject, corpus, method):
    examples = corpus["test"][:3]
    batch = subject.encode(examples)
    scores = explainer(method)(subject, batch, predicted(subject, batch)).scores
    assert scores.shape == batch.special.shape
    for row, example in enumerate(examples):
        for number in (0, 5, len(example.windows) - 1):
            one = subject.encode([Example(example.windows[number])])
            alone = explainer(method)(subject, one, predicted(subject, one)).scores[0]
            inside = scores[row][batch.window[row] == number][: len(alone)]
            assert inside == pytest.approx(alone, abs=1e-5), number


def test_scores_of_words_come_in_reading_order(subject, corpus):
    batch = subject.encode(corpus["test"][:2])
    attribution = explainer("lat")(subject, batch, predicted(subject, batch))
    for row, example in enumerate(corpus["test"][:2]):
        words = attribution.words(row)
        assert len(words) == len(example.words)
        assert [token for token, _ in attribution.text(row)] == list(example.words)
        per_window = [words[part].sum() for part in parts(example)]
        assert per_window == pytest.approx(np.ones(len(per_window)), abs=1e-4), "a softmax over each window"


def test_traces_have_a_row_for_each_window(subject, corpus):
    batch = subject.encode(corpus["test"][:2])
    trace = traced(subject, batch)
    rows = batch.by_window()
    assert trace.weights.shape == (2, len(rows), 2, *[rows.special.shape[1]] * 2)
    there = rows.predicted_positions[:, 0].to(trace.raw)
    assert_close(trace.raw.sum(1), 2 * there), "raw scores sum to the number of heads, and padding has none"


def test_gradients_are_those_of_the_last_window(subject, corpus):
    """What is explained is the value of the last window; it depends on all, and other narratives' on none of it."""
    batch = subject.encode(corpus["test"][:2])
    scores = explainer("gradient_x_input")(subject, batch, predicted(subject, batch)).scores
    one = subject.encode(corpus["test"][:1])
    alone = explainer("gradient_x_input")(subject, one, predicted(subject, one))
    assert scores[0][~batch.special[0].numpy()] == pytest.approx(alone.scores[0][~one.special[0].numpy()], abs=1e-6)
    assert explainer("gradient_squared")(subject, batch, predicted(subject, batch)).scores.shape == batch.special.shape


def test_tokens_are_not_taken_from_narratives(subject, corpus):
    batch = subject.encode(corpus["test"][:1])
    with pytest.raises(BadConfig, match="a narrative comes in windows; see gradient_x_input"):
        explainer("leave_one_out")(subject, batch, predicted(subject, batch))


def onto_moods(batch: Batch, share: float) -> Callable[[Call], torch.Tensor]:
    """So much of every row's weight on the mood words of its window, alike, and the rest on the other words."""
    rows = batch.by_window()
    moods = torch.tensor([[token in narratives.RATINGS for token in row] for row in rows.tokens])

    def rule(call: Call) -> torch.Tensor:
        permitted = call.mask & torch.ones_like(call.weights, dtype=torch.bool)
        marked = permitted & moods[:, None, None]
        others = permitted & ~marked
        count = marked.sum(-1, keepdim=True), others.sum(-1, keepdim=True)
        given = torch.where(count[0] > 0, share, 0.0), torch.where(count[0] > 0, 1 - share, 1.0)
        return marked * given[0] / count[0].clamp_min(1) + others * given[1] / count[1].clamp_min(1)

    return rule


@pytest.mark.parametrize("method", ["lat", "lat_mixed"])
@pytest.mark.parametrize(("share", "precision"), [(0.9, 1.0), (0.0, None)])
def test_where_attention_is_on_mood_words_they_are_found(subject, corpus, monkeypatch, method, share, precision):
    """A known answer: attention is put on the mood words in every layer, or on all others."""
    encode = subject.encode
    batches: list[Batch] = []

    def encoding(*args, **kwargs):
        batches.append(encode(*args, **kwargs))
        return batches[-1]

    monkeypatch.setattr(subject, "encode", encoding)
    override = {"*": lambda call: onto_moods(batches[-1], share)(call)}
    with attending(subject.model, override=override, watch=None):
        reached = rationale_match(subject, corpus["test"], method).average
    assert not np.isnan(reached).any()
    if precision is not None:
        assert reached == pytest.approx(np.ones(12))
    else:
        assert reached.max() < rationale_match(subject, corpus["test"], "random").average.mean()


def test_what_is_found_against_a_slow_loop(subject, corpus):
    examples = corpus["test"][:1]
    batch = subject.encode(examples)
    words = explainer("lat")(subject, batch, predicted(subject, batch)).words(0)
    areas, begin = [], 0
    for window in examples[0].windows:
        inside = range(begin, begin + len(window.split()))
        marked, begin = [number for number in inside if examples[0].rationale[number]], inside.stop
        precisions = []
        for number in marked:  # words of the same score are taken together
            taken = [other for other in inside if words[other] >= words[number]]
            precisions.append(sum(other in marked for other in taken) / len(taken))
        areas += [np.mean(precisions)] if marked else []
    assert rationale_match(subject, examples, "lat").average == pytest.approx([np.mean(areas)])


def test_examples_without_rationales_are_said(subject):
    with pytest.raises(BadData, match="expected examples whose deciding words are marked"):
        rationale_match(subject, [Example("a b", windows=("a", "b"))], "lat")


def test_a_trained_model_finds_the_mood_words(corpus, tmp_path):
    """Nothing but the values of windows is told in training; the mood words are found in windows it has not seen."""
    training = Training(
        model="pooled_series",
        data="narratives",
        embedding_size=32,
        hidden_size=32,
        layers=1,
        heads=4,
        head_size=8,
        learning_rate=1e-2,
        batch_size=4,
        epochs=8,
        seed=1,
    )
    subject = train(training, tmp_path / "m", corpus=corpus, quiet=True)
    assert agreement(subject, corpus["test"]).mean() > 0.6
    reached, by_chance = (rationale_match(subject, corpus["test"], method).average for method in ("lat", "random"))
    interval, difference = mean_interval(reached[None]), mean_interval((reached - by_chance)[None])
    print(f"lat {interval.mean:.3f} [{interval.low:.3f}, {interval.high:.3f}], random {by_chance.mean():.3f}")
    assert difference.low > 0.1
