"""Another program finds the item by counting words from both ends."""

from collections import Counter

import numpy as np
import pytest

from support.corpora import real
from whence.core.errors import BadData
from whence.data.examples import Corpus, Example
from whence.data.registry import load
from whence.data.synthetic import recall
from whence.data.synthetic.recall import CUE, OTHERS, TESTED, TRAINED, WORDS, delay_of, fits, in_words

SIZES = {"train": 400, "dev": 200, "test": 240}


def all_of(corpus: Corpus) -> list[Example]:
    return [example for split in corpus.splits.values() for example in split]


def made(n: int = 400) -> Corpus:
    """Sentences of three to nine words, in no words of their own."""
    texts = [f"The {WORDS[i % 20]}, {OTHERS[i // 20 % 20]} " + "seen " * (i % 6) + f"{i}" for i in range(n)]
    return Corpus("made", {"train": tuple(map(Example, texts)), "test": ()})


@pytest.fixture(scope="module", params=["recall", "recall:apart"])
def corpus(request) -> Corpus:
    return load(request.param, sizes=SIZES)


def test_the_first_word_is_the_label_and_alone_is_marked(corpus):
    for example in all_of(corpus):
        assert example.words[0] == example.label
        assert example.words[-1] == CUE
        assert example.text == " ".join(example.words)
        assert example.rationale == (True, *[False] * (len(example.words) - 1))


def test_noise_is_of_the_same_words_or_of_others(corpus):
    noise = {word for example in all_of(corpus) for word in example.words[1:-1]}
    assert noise == set(WORDS if corpus.name == "recall" else OTHERS)
    assert not set(WORDS) & set(OTHERS)
    assert CUE not in noise


def test_items_and_delays_are_balanced(corpus):
    for split, delays in {"train": range(1, TRAINED + 1), "test": TESTED}.items():
        cells = Counter((example.label, delay_of(example)) for example in corpus[split])
        assert set(cells.values()) == {SIZES[split] // len(delays) // len(WORDS)}
        assert {delay for _, delay in cells} == set(delays)
    assert corpus.labels == WORDS
    assert max(TESTED) > TRAINED


def test_the_delay_is_the_number_of_words_between():
    for example in all_of(load("recall", sizes=SIZES)):
        assert delay_of(example) == len(example.text.split()) - 2


def test_noise_does_not_know_the_item():
    """By its own law each word of noise is the item one time in twenty."""
    examples = load("recall", sizes={"train": 4000})["train"]
    hits = [word == example.label for example in examples for word in example.words[1:-1]]
    assert abs(np.mean(hits) - 1 / 20) < 4 * np.sqrt(0.05 * 0.95 / len(hits))


def test_default_sizes_and_seeds():
    corpus = load("recall")
    assert {split: len(examples) for split, examples in corpus.splits.items()} == recall.SIZES
    assert load("recall", seed=1, sizes=SIZES).checksum == load("recall", seed=1, sizes=SIZES).checksum
    assert load("recall", seed=1, sizes=SIZES).checksum != load("recall", seed=2, sizes=SIZES).checksum


def test_other_delays_can_be_asked_for():
    corpus = recall.load(sizes={"train": 40, "test": 40}, trained=2, tested=(0, 7))
    assert {delay_of(example) for example in corpus["train"]} == {1, 2}
    assert {delay_of(example) for example in corpus["test"]} == {0, 7}


def test_sentences_are_named_and_noise_is_running_text():
    source = made()
    corpus = recall.load(sizes=SIZES, of=source)
    sentences = {in_words(example) for example in source["train"] if fits(in_words(example))}
    assert corpus.name == "recall:made"
    assert corpus.labels == tuple(f"sentence {number}" for number in range(1, 21))
    items: dict[str, set] = {}
    for example in all_of(corpus):
        item = example.words[: sum(example.rationale)]
        items.setdefault(example.label, set()).add(item)
        rest = list(example.words[len(item) : -1])
        assert item in sentences
        while rest:  # whole sentences, but for the last
            found = [s for s in sentences if tuple(rest[: len(s)]) == s or s[: len(rest)] == tuple(rest)]
            assert found, rest
            rest = rest[len(max(found, key=len)) :]
    assert all(len(some) == 1 for some in items.values())
    assert len(set.union(*items.values())) == 20
    assert corpus.notes == ("drew 20 sentences of made to be remembered, and 200 as noise",)


def test_words_of_a_sentence():
    assert in_words(Example("A dog's Bone, found.")) == ("a", "dog", "'", "s", "bone", ",", "found", ".")
    assert in_words(Example("Not bad", words=("Not", "bad"))) == ("not", "bad")
    assert fits(("a", "b", "c", "d"))
    assert not fits(("a", "b", "c"))
    assert not fits(("a", "b", "c", CUE))
    assert not fits(("a", "b", "8\xa01/2", "d"))


@pytest.mark.parametrize(
    "example",
    [
        Example("a b ?", "a"),
        Example("a b ?", "a", words=("a", "b", "?"), rationale=(False, True, False)),
        Example("a b", "a", words=("a", "b"), rationale=(True, True)),
    ],
)
def test_a_text_without_an_item_is_refused(example):
    with pytest.raises(BadData, match="an item to be remembered was expected, marked as deciding at the beginning"):
        delay_of(example)


def test_too_few_sentences_are_refused(tmp_path):
    with pytest.raises(BadData, match=r"made has \d+ different sentences of 4 to 8 words .* expected 220 or more"):
        recall.load(of=made(50))
    with pytest.raises(BadData, match="Stanford Sentiment Treebank"):
        load("recall:sst", data_dir=tmp_path)


def test_real_sentences():
    """Those of sst are read in the same way, only slowly."""
    corpus = load("recall:multi30k", data_dir=real("multi30k"), sizes=SIZES)
    assert corpus.name == "recall:multi30k"
    assert {delay_of(example) for example in corpus["test"]} == set(TESTED)
    assert {sum(example.rationale) for example in corpus["test"]} <= set(recall.LENGTHS)
