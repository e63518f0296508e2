"""Stories of which one sentence answers the question: does an explainer point into it?"""

import numpy as np
import pytest
from scipy.stats import binomtest

from support.tokenizing import reader
from whence.attribution.registry import explainer
from whence.data.examples import Example
from whence.evaluation.rationale_match import rationale_match
from whence.measures.intervals import mean_interval
from whence.subject.metrics import accuracy
from whence.subject.targets import predicted


def pointing(subject, examples, method, **options):
    """For each story whether the word with the largest score is in the supporting sentence."""
    hits = np.zeros(len(examples), dtype=bool)
    for batch in subject.batches(examples, 50):
        attribution = explainer(method)(subject, batch, predicted(subject, batch), **options)
        for row, number in enumerate(batch.examples.tolist()):
            words = attribution.words(row)
            assert len(words) == len(examples[number].words)
            hits[number] = examples[number].rationale[int(words.argmax())]
    return hits


@pytest.fixture(scope="module")
def chance(stories):
    """The share of words in the supporting sentence."""
    return float(np.mean([np.mean(example.rationale) for example in stories["test"]]))


def test_the_model_has_learned_to_answer(story_reader, stories):
    assert accuracy(story_reader, stories["test"]) > 0.9


def test_raw_attention_finds_the_supporting_sentence(story_reader, stories, chance):
    hits = pointing(story_reader, stories["test"], "raw_attention")
    interval = mean_interval(hits[None].astype(float))
    print(f"raw attention {interval.mean:.3f} [{interval.low:.3f}, {interval.high:.3f}], chance {chance:.3f}")
    exact = binomtest(int(hits.sum()), len(hits)).proportion_ci(0.95)
    assert len(hits) == 300
    assert interval.low > chance + 0.3
    assert exact.low > chance + 0.3


def test_the_random_explainer_does_not(story_reader, stories, chance):
    hits = pointing(story_reader, stories["test"], "random")
    interval = binomtest(int(hits.sum()), len(hits)).proportion_ci(0.95)
    print(f"random {hits.mean():.3f} [{interval.low:.3f}, {interval.high:.3f}], chance {chance:.3f}")
    assert interval.low <= chance <= interval.high


def test_chance_favours_no_word_in_pieces():
    """The marked word is in three pieces, the others are in one; by chance it comes first one time in five."""
    words = ("the", "unbelievable", "movie", "was", "good")
    marks = tuple(word == "unbelievable" for word in words)
    hits = rationale_match(reader("bert"), [Example(" ".join(words), words=words, rationale=marks)] * 400, "random").at
    interval = binomtest(int(hits.sum()), len(hits)).proportion_ci(0.999)
    assert interval.low <= 1 / 5 <= interval.high


def test_a_text_that_comes_whole_is_ranked_as_a_whole(story_reader, stories):
    reached, by_chance = (
        rationale_match(story_reader, stories["test"], method).average for method in ("raw_attention", "random")
    )
    difference = mean_interval((reached - by_chance)[None])
    assert difference.low > 0.2
