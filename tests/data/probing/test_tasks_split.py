"""Splits of the probing tasks: drawn evenly, no word shared by training and test; the real treebank where it is."""

from collections import Counter

import numpy as np

from support.corpora import real
from whence.data.corpora import ud_ewt
from whence.data.corpora.senteval import TASKS
from whence.data.corpora.ud_ewt import example
from whence.data.download.corpus_folder import CorpusFolder
from whence.data.examples import Corpus, Example
from whence.data.formats.conllu import read_conllu
from whence.data.probing.sampled import (
    even,
    split_sentences,
    task_from_labels,
    tasks_from_trees,
    uneven,
)
from whence.data.probing.tasks import Item

VERB = "VERB|Mood=Ind|Tense={}|VerbForm=Fin"


PAST, PRESENT = VERB.format("Past"), VERB.format("Pres")


ONE, MANY = "NOUN|Number=Sing", "NOUN|Number=Plur"


def test_classes_are_drawn_evenly():
    items = [Item(Example(str(n)), label) for n, label in enumerate("aaabbbbc")]
    assert [item.label for item in even(items, 9)] == ["a", "b", "c"]
    assert Counter(item.label for item in even(items[:7], 5)) == {"a": 2, "b": 2}
    assert [item.example.text for item in even(items[:7], 2)] == ["0", "3"], "the first ones"
    assert Counter(item.label for item in uneven(items, 6)) == {"a": 2, "b": 2, "c": 1}
    alike = [
        Item(Example(str(n)), label, like=like)
        for n, (label, like) in enumerate(map(tuple, ["a1", "a1", "b1", "a2", "b3"]))
    ]
    assert [(item.label, item.like) for item in even(alike, 9)] == [("a", "1"), ("b", "1")]
    assert even([], 5) == []


def many(n, seed=0):
    """Sentences whose subjects are of many forms."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(n):
        noun, plural = int(rng.integers(40)), bool(rng.integers(2))
        words = ("the", f"n{noun}{'s' * plural}", "saw", "it", f"{seed}.{number}")
        made.append(
            Example(
                " ".join(words),
                words=words,
                heads=(1, 2, -1, 2, 2),
                features=("UPOS=DET", f"UPOS={MANY if plural else ONE}", f"UPOS={PAST}", "UPOS=PRON", "UPOS=NUM"),
                relations=("det", "nsubj", "root", "obj", "obl"),
            )
        )
    return made


def test_words_that_tell_are_not_the_same_in_training_and_test():
    (task,), left_out = tasks_from_trees(["subj_number", "obj_number"], many(600), many(60, 1), 200, 20, 0)
    assert set(left_out) == {"obj_number"}
    assert "0 classes in training" in left_out["obj_number"]
    assert len(task.test) == 20
    assert Counter(item.label for item in task.test) == {"plural": 10, "singular": 10}
    assert len({item.label for item in task.train}) == 2
    assert not {item.target for item in task.train} & {item.target for item in task.test}
    again, _ = tasks_from_trees(["subj_number"], many(600), many(60, 1), 200, 20, 0)
    assert again == [task]
    other, _ = tasks_from_trees(["subj_number"], many(600), many(60, 1), 200, 20, 1)
    assert other != [task]


def test_what_is_looked_at_is_not_trained_on():
    train, test = many(30), many(12, 1)
    corpus = Corpus("made", {"train": (*train, test[0]), "test": tuple(test)})
    kept, asked = split_sentences(corpus, test, 0)
    assert (kept, asked) == (train, test), "a text that is asked is left out of training"
    kept, asked = split_sentences(Corpus("made", {"test": tuple(test)}), test, 0)
    assert (len(kept), len(asked)) == (8, 4)
    assert {id(e) for e in (*kept, *asked)} == {id(e) for e in test}
    assert split_sentences(corpus, corpus["train"], 0)[1] != list(corpus["train"])


def test_labels_of_a_corpus_are_one_task():
    examples = [Example(str(n), "ab"[n % 3 == 0]) for n in range(30)]
    task = task_from_labels("mine", examples[:20], [*examples[20:], Example("none")], 10, 20, 0)
    assert (len(task.train), len(task.test), task.labels) == (10, 10, ("a", "b"))


def test_the_real_treebank():
    """Its two small files, one to train on: classes are even, and nothing is in both."""
    folder = CorpusFolder(ud_ewt.ENTRY, real("ud_ewt") / "ud_ewt")
    sides = [
        [example(s) for s in read_conllu(folder.paths(f"en_ewt-ud-{split}.conllu")[0])] for split in ("dev", "test")
    ]
    train, test = split_sentences(Corpus("ud", {"train": tuple(sides[0]), "test": tuple(sides[1])}), sides[1], 0)
    tasks, left_out = tasks_from_trees(TASKS, train, test, 2000, 1000, 0)
    assert len(tasks) + len(left_out) == 10
    assert {"sentence_length", "tree_depth", "bigram_shift", "past_present", "odd_man_out"} <= {t.name for t in tasks}
    for task in tasks:
        counts = Counter(item.label for item in task.test)
        assert task.name == "word_content" or len(set(counts.values())) == 1
        assert not {item.target for item in task.train} & {item.target for item in task.test} - {""}
