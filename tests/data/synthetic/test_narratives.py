from pathlib import Path

import numpy as np
import pytest
import vaderSentiment

from whence.core.errors import BadData
from whence.data.examples import Corpus, Example, narrative
from whence.data.synthetic import narratives
from whence.data.synthetic.narratives import RATINGS, load, moods

SMALL = {"train": 12, "test": 4}


@pytest.fixture(scope="module")
def corpus():
    return load()


@pytest.fixture(scope="module")
def vader() -> dict[str, tuple[float, float]]:
    """The words of VADER's lexicon with the mean and the standard deviation of their human ratings."""
    lines = (Path(vaderSentiment.__file__).parent / "vader_lexicon.txt").read_text(encoding="utf-8").splitlines()
    return {word: (float(mean), float(deviation)) for word, mean, deviation, _ in (line.split("\t") for line in lines)}


def test_sizes_and_lengths(corpus):
    assert {split: len(examples) for split, examples in corpus.splits.items()} == narratives.SIZES
    lengths = [len(example.windows) for examples in corpus.splits.values() for example in examples]
    assert (min(lengths), max(lengths)) == (narratives.SHORTEST, narratives.LONGEST)
    words = [len(window.split()) for example in corpus["train"] for window in example.windows]
    assert 8 < np.mean(words) < 20
    assert len({example.text for examples in corpus.splits.values() for example in examples}) == 240


def test_the_values_follow_from_the_rated_words(corpus):
    for example in corpus["test"]:
        value = 0.0
        for window, stated in zip(example.windows, example.values, strict=True):
            rated = [RATINGS[word] for word in window.split() if word in RATINGS]
            value = value if not rated else 0.5 * value + 0.5 * float(np.mean(rated)) / 4
            assert stated == pytest.approx(value)
            assert -1 <= stated <= 1


def test_the_rationale_marks_the_mood_words_and_no_others(corpus):
    for example in corpus["dev"]:
        assert example.rationale == tuple(word in RATINGS for word in example.words)
        assert example.words == tuple(" ".join(example.windows).split())
    assert 0.04 < np.mean([mark for example in corpus["train"] for mark in example.rationale]) < 0.1


def test_ratings_are_those_of_vader_and_its_raters_agree(vader):
    for word, rating in RATINGS.items():
        assert vader[word][0] == rating
        assert vader[word][1] < 1.1


def test_other_words_have_no_rating(corpus, vader):
    others = {word for example in corpus["train"] for word in example.words} - RATINGS.keys()
    assert not others & vader.keys()
    assert set(narratives.PLAIN) <= others


def test_mood_words_stand_where_plain_ones_do(corpus):
    """So that nothing but the word itself tells a mood word."""
    before: dict[bool, set[str]] = {True: set(), False: set()}
    for example in corpus["train"]:
        for earlier, word in zip(example.words, example.words[1:], strict=False):
            if word in RATINGS or word in narratives.PLAIN:
                before[word in RATINGS].add(earlier)
    assert before[True] == before[False]


def test_moods_drift_and_stay_in_their_range():
    rng = np.random.default_rng(0)
    walks = [moods(rng, 30) for _ in range(200)]
    assert all((np.abs(walk) <= 1).all() for walk in walks)
    steps = np.abs(np.concatenate([np.diff(walk) for walk in walks]))
    assert steps.mean() < 0.3 < np.std(np.concatenate(walks))
    assert abs(np.concatenate(walks).mean()) < 0.1


def test_values_differ_within_a_narrative(corpus):
    assert np.mean([np.std(example.values) for example in corpus["train"]]) > 0.2


def test_the_same_seed_makes_the_same_corpus_and_another_makes_another():
    assert load(seed=1, sizes=SMALL).checksum == load(seed=1, sizes=SMALL).checksum
    assert load(seed=1, sizes=SMALL).checksum != load(seed=2, sizes=SMALL).checksum


def test_mood_words_of_later_splits_occur_in_the_first():
    made = load(sizes={"train": 1, "test": 30})
    (first,) = made["train"]
    assert {word for example in made["test"] for word in example.words if word in RATINGS} <= set(first.words)


def test_a_narrative_of_words():
    made = narrative([["a", "b"], ["c"]], [0.5, -1.0], [[True, False], [False]])
    assert made == Example(
        "a b c", words=("a", "b", "c"), rationale=(True, False, False), windows=("a b", "c"), values=(0.5, -1.0)
    )
    assert narrative([["a"]]).values is None


def test_windows_and_values_count_in_the_checksum():
    parts = [("a b c",), ("a b", "c"), ("a", "b c")]
    made = [Corpus("c", {"test": (Example("a b c", windows=windows),)}) for windows in parts]
    made += [Corpus("c", {"test": (narrative([["a", "b"], ["c"]], values),)}) for values in ([0.0, 1.0], [1.0, 0.0])]
    made.append(Corpus("c", {"test": (Example("a b c"),)}))
    assert len({corpus.checksum for corpus in made}) == 6


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"values": (1.0,)}, "for windows of words; there are none: 'a b'"),
        ({"windows": ()}, "there are none"),
        ({"windows": ("a b", " ")}, r"window 1 \(counted from 0\) is empty"),
        ({"windows": ("a", "c")}, "its windows joined by spaces; it is another"),
        ({"windows": ("a", "b"), "words": ("a b",)}, "those of its windows; they are others"),
        ({"windows": ("a", "b"), "values": (1.0,)}, "there are 2 windows and 1"),
        ({"windows": ("a", "b"), "values": (1.0, float("nan"))}, r"window 1 \(counted from 0\) has the value nan"),
        ({"windows": ("a", "b"), "values": (float("inf"), 1.0)}, "has the value inf; a number was expected"),
    ],
)
def test_what_is_no_narrative_is_said(parts, says):
    with pytest.raises(BadData, match=says):
        Example("a b", **parts)
