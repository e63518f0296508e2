"""A second, simple program plays the stories through and answers the questions."""

from collections import Counter

import pytest

from whence.core.errors import BadConfig
from whence.data.examples import Corpus, Example
from whence.data.synthetic import stories
from whence.data.synthetic.shared.story_events import PLACES

SIZES = {"train": 300, "dev": 60, "test": 60}


@pytest.fixture(scope="module", params=[1, 2, 3])
def corpus(request) -> Corpus:
    return stories.load(facts=request.param, sizes=SIZES)


def all_of(corpus: Corpus) -> list[Example]:
    return [example for split in corpus.splits.values() for example in split]


def sentences(words: list[str]) -> list[list[str]]:
    return [part.split() for part in " ".join(words).split(" .") if part.strip()]


def answer(words: list[str], question: str) -> str:
    """Play the story: `been` holds where everybody and everything has been, `has` who holds what."""
    been: dict[str, list[str]] = {}
    has: dict[str, str] = {}
    for sentence in sentences(words):
        who, what = sentence[0], sentence[-1]
        if "to" in sentence:
            been.setdefault(who, []).append(what)
        elif {"took", "picked", "grabbed"} & set(sentence):
            has[what] = who
        else:
            has.pop(what, None)  # the marked sentences alone may not say who took it
            if been.get(who) and been.get(what, [""])[-1:] != been[who][-1:]:
                been.setdefault(what, []).append(been[who][-1])
        for thing, holder in has.items():
            if been.get(holder) and been.get(thing, [""])[-1:] != been[holder][-1:]:
                been.setdefault(thing, []).append(been[holder][-1])
    match question.split():
        case ["where", "is", who, "?"] | ["where", "is", "the", who, "?"]:
            return been[who][-1]
        case ["where", "was", "the", thing, "before", "the", place, "?"]:
            assert been[thing].count(place) == 1, "the question must be plain"
            return been[thing][been[thing].index(place) - 1]
    raise AssertionError(question)


def test_playing_the_story_gives_the_label(corpus):
    for example in all_of(corpus):
        assert answer(example.words, example.pair) == example.label, example


def test_the_marked_sentences_alone_give_the_label(corpus):
    facts = {"stories": 1, "stories:2": 2, "stories:3": 3}[corpus.name]
    for example in all_of(corpus):
        marked = [word for word, mark in zip(example.words, example.rationale, strict=True) if mark]
        assert answer(marked, example.pair) == example.label, example
        assert marked.count(".") == facts


def test_every_marked_sentence_is_needed(corpus):
    """Without one of them, the others do not give the answer, or do not give it by the rules."""
    for example in corpus["test"]:
        marked = sentences([word for word, mark in zip(example.words, example.rationale, strict=True) if mark])
        for left_out in range(len(marked)):
            rest = [w for i, s in enumerate(marked) if i != left_out for w in (*s, ".")]
            with pytest.raises((KeyError, IndexError, AssertionError)):
                assert answer(rest, example.pair) == example.label


def test_answers_are_balanced_over_the_places(corpus):
    assert corpus.labels == PLACES
    for examples in corpus.splits.values():
        assert set(Counter(e.label for e in examples).values()) == {len(examples) // 6}


def test_no_story_comes_twice(corpus):
    assert len({(e.text, e.pair) for e in all_of(corpus)}) == sum(SIZES.values())


def test_words_and_text_agree(corpus):
    for example in all_of(corpus):
        assert example.text == " ".join(example.words)
        assert example.pair == " ".join(example.pair_words)


def test_the_last_sentence_does_not_betray_the_answer(corpus):
    right = [sentences(e.words)[-1][-1] == e.label for e in corpus["train"]]
    assert sum(right) / len(right) < 0.55


def test_lengths_and_default_sizes():
    corpus = stories.load()
    assert {split: len(examples) for split, examples in corpus.splits.items()} == {
        "train": 2000,
        "dev": 300,
        "test": 300,
    }
    lengths = Counter(e.words.count(".") for e in all_of(corpus))
    assert min(lengths) == 2
    assert max(lengths) == 10


def test_somebody_in_question_has_often_been_elsewhere_before():
    earlier = [e.words.count(e.pair_words[2]) > 1 for e in stories.load(sizes=SIZES)["train"]]
    assert sum(earlier) > 100


def test_the_seed_decides_and_the_facts_are_counted():
    assert stories.load(1, sizes=SIZES).checksum == stories.load(1, sizes=SIZES).checksum
    assert stories.load(1, sizes=SIZES).checksum != stories.load(2, sizes=SIZES).checksum
    with pytest.raises(BadConfig, match="1, 2 or 3 supporting facts; got 4"):
        stories.load(facts=4)
