from collections import Counter

import pytest

from support.corpora import real, written
from whence.core.errors import BadData
from whence.data.corpora import conll2000
from whence.data.registry import find, load
from whence.measures.chunk_f1 import is_iob, segments

FIRST = "Sales NNS B-NP\nrose VBD B-VP\n12 CD B-NP\n1,200 CD I-NP\n% NN I-NP\n. . O\n"
SECOND = "He PRP B-NP\nleft VBD B-VP\n"


@pytest.fixture
def made(tmp_path):
    written(tmp_path / "conll2000", "train.txt.gz", (FIRST + "\n" + SECOND + "\n") * 10)
    written(tmp_path / "conll2000", "test.txt", FIRST + "\n\n" + SECOND)  # no empty line at the end, two within
    return tmp_path


def test_sentences_in_words_with_a_tag_each(made):
    first, second = conll2000.load(made)["test"]
    assert first.words == ("Sales", "rose", "12", "1,200", "%", ".")
    assert first.text == "Sales rose 12 1,200 % ."
    assert first.tags == ("B-NP", "B-VP", "B-NP", "I-NP", "I-NP", "O")
    assert second.tags == ("B-NP", "B-VP")


def test_a_tenth_of_the_training_sentences_is_drawn_as_dev(made):
    corpus = load("conll2000", data_dir=made)
    assert [len(corpus[split]) for split in ("train", "dev", "test")] == [18, 2, 2]
    assert corpus.labels == ("O", "B-NP", "I-NP", "B-VP")
    assert "drew 2 of 20 training sentences as dev" in corpus.notes
    assert corpus.checksum == load("conll2000", data_dir=made).checksum


def test_words_of_digits_alone_are_zero_in_the_variant(made):
    corpus = load("conll2000:digits", data_dir=made)
    assert corpus.name == "conll2000:digits"
    assert corpus["test"][0].words == ("Sales", "rose", "0", "1,200", "%", ".")
    assert "wrote words of digits alone as 0" in corpus.notes


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("Sales NNS", "got 'Sales NNS'"),
        ("Sales NNS B-NP more", "got 'Sales NNS B-NP more'"),
        ("Sales NNS NP", r"its chunk \(O, B-NP, I-NP, \.\.\.\) were expected"),
        ("Sales NNS B-", "got 'Sales NNS B-'"),
        ("Sales NNS O-NP", "got 'Sales NNS O-NP'"),
    ],
)
def test_a_damaged_line_is_said_with_its_number(made, line, says):
    written(made / "conll2000", "test.txt", SECOND + line + "\n")
    with pytest.raises(BadData, match=rf"test\.txt, line 3: a word, .*{says}|line 3.*{says}"):
        conll2000.load(made)


def test_a_corpus_that_is_not_there_says_how_to_get_it(tmp_path):
    with pytest.raises(BadData, match=r"conll2000 is not in .* Get it with `whence data get conll2000`"):
        load("conll2000", data_dir=tmp_path)
    assert find("conll2000").url.endswith("conll2000.zip")


def test_the_real_sentences():
    """Counts of the shared task (Tjong Kim Sang & Buchholz 2000, §3), and of Yang 2019."""
    corpus = load("conll2000", data_dir=real("conll2000"))
    assert [len(corpus[split]) for split in ("train", "dev", "test")] == [8042, 894, 2012]
    words = {split: sum(len(e.words or ()) for e in corpus[split]) for split in corpus.splits}
    assert words["train"] + words["dev"] == 211_727
    assert words["test"] == 47_377
    assert is_iob(corpus.labels)
    assert corpus.labels[0] == "O"
    kinds = Counter(chunk.kind for split in ("train", "dev") for e in corpus[split] for chunk in segments(e.tags))
    assert sum(kinds.values()) == 106_978
    assert kinds["NP"] == 55_081
    assert set(kinds) == {"NP", "VP", "PP", "ADVP", "SBAR", "ADJP", "PRT", "CONJP", "INTJ", "LST", "UCP"}
    assert sum(len(segments(e.tags or ())) for e in corpus["test"]) == 23_852
    assert not any("official" in note for note in corpus.notes)
    zeros = load("conll2000:digits", data_dir=real("conll2000"))
    assert zeros["dev"][0].tags == corpus["dev"][0].tags
    assert not any(word.isdigit() and word != "0" for e in zeros["test"] for word in e.words)
