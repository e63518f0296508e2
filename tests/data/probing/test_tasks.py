"""The ten tasks on sentences written by hand."""

from dataclasses import replace

import pytest

from support.corpora import written
from whence.data.corpora.ud_ewt import example
from whence.data.examples import Corpus, Example
from whence.data.formats.conllu import read_conllu
from whence.data.probing import tasks as probing
from whence.data.probing.perturbed import two_clauses
from whence.data.probing.sampled import (
    MAKERS,
    features_checksum,
)
from whence.data.probing.tasks import Item
from whence.data.registry import load
from whence.data.rng import seeded_rng

VERB = "VERB|Mood=Ind|Tense={}|VerbForm=Fin"


PAST, PRESENT = VERB.format("Past"), VERB.format("Pres")


ONE, MANY = "NOUN|Number=Sing", "NOUN|Number=Plur"


def conllu(*words):
    """Lines of `form head relation UPOS|Feats`."""
    lines = []
    for number, word in enumerate(words, start=1):
        form, head, relation, described = word.split(" ")
        upos, _, feats = described.partition("|")
        lines.append("\t".join([str(number), form, "_", upos, "_", feats or "_", head, relation, "_", "_"]))
    return "\n".join(lines) + "\n\n"


DOGS = conllu(
    "The 2 det DET",
    f"dogs 3 nsubj {MANY}",
    f"chased 0 root {PAST}",
    "a 5 det DET",
    f"cat 3 obj {ONE}",
    ". 3 punct PUNCT",
)


HE = conllu(
    "He 2 nsubj PRON|Number=Sing",
    f"sees 0 root {PRESENT}",
    "old 4 amod ADJ",
    f"houses 2 obj {MANY}",
    "there 2 advmod ADV",
    ". 2 punct PUNCT",
)


WENT = conllu(
    "She 2 nsubj PRON",
    f"went 0 root {PAST}",
    "home 2 advmod ADV",
    ", 7 punct PUNCT",
    "and 7 cc CCONJ",
    f"rain 7 nsubj {ONE}",
    f"fell 2 conj {PAST}",
    ". 2 punct PUNCT",
)


COLD = conllu(
    "It 3 nsubj PRON",
    "is 3 cop AUX|Tense=Pres|VerbForm=Fin",
    "cold 0 root ADJ",
    "and 5 cc CCONJ",
    "wet 3 conj ADJ",
    ". 3 punct PUNCT",
)


@pytest.fixture(scope="module")
def sentences(tmp_path_factory):
    path = written(tmp_path_factory.mktemp("made"), "made.conllu", DOGS + HE + WENT + COLD)
    return [example(sentence) for sentence in read_conllu(path)]


def read(name, e, known, seed=0):
    return MAKERS[name](known)(e, seeded_rng(seed, name))


def test_features_are_read_by_both_roads(tmp_path, sentences):
    assert sentences[0].features[1:3] == (f"UPOS={MANY}", f"UPOS={PAST}")
    assert sentences[0].features[0] == "UPOS=DET"
    path = written(tmp_path, "mine.conllu", DOGS + HE)
    corpus = load(path)
    assert corpus["test"][0].features == sentences[0].features
    bare = Corpus(corpus.name, {"test": tuple(replace(e, features=None) for e in corpus["test"])})
    assert corpus.checksum == bare.checksum, "what was known of corpora before stays known"
    assert features_checksum(corpus) != features_checksum(bare)
    plain = written(tmp_path, "bare.conllu", "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n")
    assert read_conllu(plain)[0].features == ("_",)
    table = written(tmp_path, "t.jsonl", '{"tokens": ["a", "b"], "feats": ["x", "y"], "label": "1"}\n' * 2)
    assert load(table)["test"][0].features is None, "a column of that name may hold anything"


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("sentence_length", ["5-8", "5-8", "5-8", "5-8"]),
        ("tree_depth", [None, None, None, None]),
        (
            "top_constituents",
            ["nsubj root obj", "nsubj root obj advmod", "nsubj root advmod conj", "nsubj cop root conj"],
        ),
        ("past_present", ["past", "present", "past", None]),
        ("subj_number", ["plural", None, None, None]),
        ("obj_number", ["singular", "plural", None, None]),
    ],
)
def test_what_is_read_off_a_sentence(name, labels, sentences):
    found = [read(name, e, sentences) for e in sentences]
    assert [item and item.label for item in found] == labels
    assert all(item.example is e for item, e in zip(found, sentences, strict=True) if item)


def test_the_word_that_tells_is_known(sentences):
    assert read("past_present", sentences[1], ()).target == "sees"
    assert read("subj_number", sentences[0], ()).target == "dogs"
    assert read("obj_number", sentences[1], ()).target == "houses"


@pytest.mark.parametrize(
    ("n", "label"), [(5, "5-8"), (8, "5-8"), (9, "9-12"), (20, "17-20"), (21, "21-25"), (28, "26-28")]
)
def test_bins_of_length(n, label):
    assert read("sentence_length", Example("", words=("w",) * n), ()).label == label


def test_depth_of_a_chain_beside_others_of_its_length():
    chain = Example("", words=("w",) * 6, heads=(-1, 0, 1, 2, 3, 3))
    assert read("tree_depth", chain, ()) == Item(chain, "4", like="6")
    assert read("tree_depth", replace(chain, heads=(-1, 0, 1, 2, 3, 4)), ()).label == "5"


def test_rare_tops_are_other(sentences, monkeypatch):
    monkeypatch.setattr(probing, "CONSTITUENTS", 1)
    known = [sentences[0], *sentences]
    assert [read("top_constituents", e, known).label for e in sentences] == [
        "nsubj root obj",
        "other",
        "other",
        "other",
    ]


def test_one_word_of_middle_frequency(monkeypatch):
    monkeypatch.setattr(probing, "FREQUENT", 1)
    monkeypatch.setattr(probing, "CONTENTS", 2)
    texts = [
        "The house stands",
        "the House and garden",
        "the garden the it",
        "the garden",
        "the a",
        "it is garden house",
    ]
    known = [Example(text, words=tuple(text.split())) for text in texts]
    found = [read("word_content", e, known) for e in known]
    assert [item and item.label for item in found] == ["house", None, "garden", "garden", None, None]


def altered(name, e, known, like):
    """What the task makes of a sentence: some seed leaves it as it is, another alters it, and no third thing comes."""
    made = {(item.label, item.example.words) for seed in range(60) for item in [read(name, e, known, seed)]}
    assert ("original", e.words) in made
    other = {words for label, words in made if label == like}
    assert len(made) == len(other) + 1
    return other


def test_neighbours_are_swapped(sentences):
    """Not the first word, not punctuation, and each sentence so or so."""
    assert altered("bigram_shift", sentences[0], (), "inverted") == {
        ("The", "chased", "dogs", "a", "cat", "."),
        ("The", "dogs", "a", "chased", "cat", "."),
        ("The", "dogs", "chased", "cat", "a", "."),
    }
    twins = replace(sentences[0], words=("The", "dogs", "Dogs", "DOGS", "!", "."))
    assert read("bigram_shift", replace(twins, features=twins.features[:4] + ("UPOS=PUNCT",) * 2), ()) is None


def test_another_word_of_the_same_form(sentences):
    known = [*sentences, sentences[0]]  # `rain` is as frequent as `cat` within a factor of two, `fell` as `went`
    assert altered("odd_man_out", sentences[2], known, "changed") == {
        ("She", "fell", "home", ",", "and", "rain", "fell", "."),
        ("She", "went", "home", ",", "and", "rain", "went", "."),
    }
    assert altered("odd_man_out", sentences[2], sentences, "changed") >= {
        ("She", "went", "home", ",", "and", "cat", "fell", "."),
        ("She", "chased", "home", ",", "and", "rain", "fell", "."),
    }
    changed = next(item for seed in range(9) if (item := read("odd_man_out", sentences[2], sentences, seed)).target)
    assert changed.label == "changed"
    assert changed.target in changed.example.words
    assert read("odd_man_out", sentences[3], sentences) is None


def test_clauses_are_swapped(sentences):
    assert altered("coordination_inversion", sentences[2], (), "inverted") == {
        ("Rain", "fell", ",", "and", "she", "went", "home", ".")
    }
    assert two_clauses(sentences[2]) == (3, 5, 7)
    assert two_clauses(sentences[3]) is None, "adjectives are no clauses"
    both = {
        (item.label, item.like)
        for seed in range(20)
        for item in [read("coordination_inversion", sentences[2], (), seed)]
    }
    assert both == {("original", "1"), ("inverted", "-1")}, "the first clause has three words, the second two"


def test_names_and_i_keep_their_letters(sentences):
    for opening, kept in (("I", "I"), ("USA", "USA"), ("Then", "then")):
        e = replace(sentences[2], words=(opening, *sentences[2].words[1:]))
        assert two_clauses(e).inverted(e).words[4] == kept
    named = replace(sentences[2], features=("UPOS=PROPN", *sentences[2].features[1:]))
    assert two_clauses(named).inverted(named).words[4] == "She"
