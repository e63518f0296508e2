"""Two small programs that know nothing of the generator: one reads the words, one only what is marked."""

from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from whence.data.examples import Corpus, Example
from whence.data.synthetic import reviews

NOT = {"not", "nobody", "nothing"}


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return reviews.load()


@pytest.fixture(scope="module")
def valence() -> dict[str, tuple[float, float]]:
    """Mean and standard deviation of the human ratings in VADER's lexicon."""
    path = Path(find_spec("vaderSentiment").origin).parent / "vader_lexicon.txt"
    lines = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return {word: (float(mean), float(deviation)) for word, mean, deviation, _ in lines}


def all_of(corpus: Corpus) -> list[Example]:
    return [example for split in corpus.splits.values() for example in split]


def verdict(words: list[str], valence: dict) -> str | None:
    """What the words say by their ratings and their negators; None if they say nothing."""
    felt = [valence[word][0] for word in words if word in valence and abs(valence[word][0]) >= 1.5]
    assert len(felt) < 2
    if not felt:
        return None
    return "positive" if (felt[0] > 0) != bool(NOT & set(words)) else "negative"


def read_aloud(text: str, valence: dict) -> str:
    """The label by the words alone: sentences on the film itself, and in these what follows *but*."""
    heard = []
    for sentence in text.split(" . "):
        others = sentence.startswith(("my ", "the other film ")) or " director " in sentence
        if not others:
            heard.append(verdict(sentence.removesuffix(" .").split(" but ")[-1].split(), valence))
    [label] = [label for label in heard if label]
    return label


def test_opinion_words_are_rated_strongly_and_alike(valence):
    for label, sign in (("positive", 1), ("negative", -1)):
        for word in reviews.OPINIONS[label]:
            mean, deviation = valence[word]
            assert sign * mean >= 1.5, word
            assert deviation < 1.2, word
            assert word.isalpha()
            assert word.islower()


def test_all_other_words_are_neutral_or_negators(corpus, valence):
    opinions = {word for words in reviews.OPINIONS.values() for word in words}
    others = {word for e in all_of(corpus) for word in e.words} - opinions
    assert {word for word in others if abs(valence.get(word, (0,))[0]) >= 1.5} == set()


def test_the_words_alone_give_the_label(corpus, valence):
    for example in all_of(corpus):
        assert read_aloud(example.text, valence) == example.label, example.text


def test_the_rationale_alone_gives_the_label(corpus, valence):
    for example in all_of(corpus):
        marked = [word for word, mark in zip(example.words, example.rationale, strict=True) if mark]
        assert verdict(marked, valence) == example.label, example.text
        assert len(marked) == 1 + bool(NOT & set(marked))


def test_sizes_labels_and_lengths(corpus):
    assert {split: len(examples) for split, examples in corpus.splits.items()} == {
        "train": 2000,
        "dev": 400,
        "test": 400,
    }
    for examples in corpus.splits.values():
        assert len(set(Counter(e.label for e in examples).values())) == 1
    assert all(8 <= len(e.words) <= 30 and e.text == " ".join(e.words) for e in all_of(corpus))


def test_no_review_comes_twice(corpus):
    assert len({e.text for e in all_of(corpus)}) == 2800


@pytest.mark.parametrize("size", [2000, 30])
def test_opinion_words_of_later_splits_occur_in_train(size):
    corpus = reviews.load(seed=3, sizes={"train": size, "test": 200})
    opinions = {word for words in reviews.OPINIONS.values() for word in words}
    heard = {split: {w for e in corpus[split] for w in e.words} & opinions for split in ("train", "test")}
    assert heard["test"] <= heard["train"]


def test_all_shapes_are_there(corpus):
    texts = [e.text for e in corpus["train"]]
    share = {
        shape: sum(shape in text for text in texts) / len(texts) for shape in (" but ", " not ", "nobody", "director")
    }
    assert share[" but "] == pytest.approx(1 / 3, abs=0.06)
    assert all(part > 0.05 for part in share.values())


def test_negators_and_asides_do_not_betray_the_label(corpus, valence):
    """Neither the number of negators nor the opinions of others go with one label."""
    train = corpus["train"]
    for label in corpus.labels:
        negated = [bool(NOT & set(e.words)) for e in train if e.label == label]
        assert sum(negated) / len(negated) == pytest.approx(
            sum(bool(NOT & set(e.words)) for e in train) / len(train), abs=0.05
        )
    asides = [(s.split()[-1], e.label) for e in train for s in e.text.split(" . ") if " called it " in s]
    agree = [(valence[word][0] > 0) == (label == "positive") for word, label in asides if word in valence]
    assert sum(agree) / len(agree) == pytest.approx(0.5, abs=0.15)


def test_the_seed_decides():
    sizes = {"train": 20, "test": 5}
    assert reviews.load(1, sizes).checksum == reviews.load(1, sizes).checksum
    assert reviews.load(1, sizes).checksum != reviews.load(2, sizes).checksum


def test_a_corpus_of_one_review_is_made():
    assert len(reviews.load(sizes={"test": 1})["test"]) == 1


def test_plain_reviews_have_no_negation_so_that_the_deciding_word_is_of_the_label():
    for example in reviews.load(sizes={"train": 60}, negated=0.0)["train"]:
        (decides,) = [word for word, marked in zip(example.words, example.rationale, strict=True) if marked]
        assert decides in reviews.OPINIONS[example.label]
        assert not {"not", "nobody", "nothing"} & set(example.words)
