"""A second, simple program reads the premise and judges the hypothesis."""

from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest

from whence.core.errors import BadConfig
from whence.data.examples import Corpus, Example
from whence.data.registry import load
from whence.data.synthetic import entailment

KINDS = {
    "making music": {"playing the violin"},
    "doing sport": {"lifting weights"},
    "working": {"repairing a bicycle"},
    "outdoors": {"in the park"},
    "indoors": {"in the kitchen"},
}
MATTERS = {
    "colour": {"red", "blue", "green"},
    "deed": {"playing the violin", "lifting weights", "repairing a bicycle"},
    "place": {"in the park", "in the kitchen"},
}


@pytest.fixture(scope="module", params=[1, 2])
def corpus(request) -> Corpus:
    return entailment.load(people=request.param)


def all_of(corpus: Corpus) -> list[Example]:
    return [example for examples in corpus.splits.values() for example in examples]


def judged(premise: str, hypothesis: str) -> str:
    """The label, from what stands in the clause about the person."""
    _, who, rest = hypothesis.removesuffix(" .").split(" ", 2)
    claim = rest.removeprefix("wears something ").removeprefix("is ")
    (told,) = (clause for clause in premise.removesuffix(" .").split(" and ") if f"a {who} " in clause)
    (matter,) = (m for m, values in MATTERS.items() if claim in values or KINDS.get(claim, {0}) <= values)
    said = [value for value in MATTERS[matter] if f" {value} " in f" {told} "]
    assert len(said) < 2
    if not said:
        return "neutral"
    return "entailment" if said[0] == claim or said[0] in KINDS.get(claim, ()) else "contradiction"


def test_reading_the_premise_gives_the_label(corpus):
    for e in all_of(corpus):
        assert judged(e.text, e.pair) == e.label, e


def test_the_marked_words_are_what_is_said_and_of_two_people_who(corpus):
    for e in all_of(corpus):
        assert (e.rationale is None) == (e.label == "neutral")
        if e.rationale:
            marked = [word for word, mark in zip(e.words, e.rationale, strict=True) if mark]
            if corpus.name == "entailment:two":
                assert marked.pop(0) == e.pair_words[1]
            assert " ".join(marked) in MATTERS["colour"] | MATTERS["deed"] | MATTERS["place"]
            assert judged(f"a {e.pair_words[1]} is {' '.join(marked)} .", e.pair) == e.label


def features(words: tuple[str, ...]) -> set[str]:
    """The words of a text, and its pairs of neighbouring words."""
    return {*words, *(f"{a} {b}" for a, b in pairwise(words))}


@pytest.mark.parametrize("side", ["words", "pair_words"])
def test_one_side_alone_predicts_no_better_than_chance(corpus, side):
    """Naive Bayes over the words and pairs of words of one text."""
    counted = Counter((f, e.label) for e in corpus["train"] for f in features(getattr(e, side)))
    seen = {f for f, _ in counted}
    share = {key: np.log((counted[key] + 1) / 2002) for key in product(seen, entailment.LABELS)}
    later = [e for split in ("dev", "test") for e in corpus[split]]
    right = 0
    for e in later:
        there = features(getattr(e, side)) & seen
        right += e.label == max(entailment.LABELS, key=lambda label: sum(share[f, label] for f in there))
    assert right / len(later) < 1 / 3 + 3 * np.sqrt(2 / 9 / len(later)), "three standard errors above a third"


def test_no_hypothesis_leans_to_a_label(corpus):
    """Over many pairs each hypothesis has each label about as often: a chi-square test over all of them."""
    from scipy.stats import chi2_contingency

    counted = Counter((e.pair, e.label) for e in all_of(corpus))
    hypotheses = sorted({pair or "" for pair, _ in counted})
    table = np.array([[counted[pair, label] for label in entailment.LABELS] for pair in hypotheses])
    assert table.sum(1).min() > 15
    assert chi2_contingency(table).pvalue > 0.001


def test_labels_are_balanced_and_no_pair_comes_twice(corpus):
    for examples in corpus.splits.values():
        assert set(Counter(e.label for e in examples).values()) == {len(examples) // 3}
    assert len({(e.text, e.pair) for e in all_of(corpus)}) == 7200
    assert all(e.text == " ".join(e.words) and e.pair == " ".join(e.pair_words) for e in all_of(corpus))


def test_of_two_people_the_other_is_often_told_to_do_what_is_stated():
    """So that it does not do to look for the words alone."""
    plain = [
        e
        for e in all_of(load("entailment:two"))
        if not {"music", "sport", "working", "outdoors", "indoors"} & set(e.pair_words)
    ]
    claims = [" ".join(w for w in e.pair_words[3:-1] if w != "something") for e in plain]
    labels = Counter(e.label for e, claim in zip(plain, claims, strict=True) if f" {claim} " in e.text)
    assert labels["neutral"] > 200
    assert labels["contradiction"] > 200


def test_the_seed_decides():
    sizes = {"test": 30}
    assert load("entailment", seed=1, sizes=sizes).checksum == entailment.load(1, sizes).checksum
    assert entailment.load(1, sizes).checksum != entailment.load(2, sizes).checksum
    with pytest.raises(BadConfig, match="is about 1 or 2 people; got 3"):
        entailment.load(people=3)
