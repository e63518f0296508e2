"""Lexicons: made files of their formats, forms of words, and the real norms where they are."""

import math

import pytest

from support.corpora import real, written
from whence.core.errors import BadData
from whence.data.corpora import sst
from whence.data.lexical.lemmas import lemma
from whence.data.lexical.lexicons import Lexicon, load_lexicon

NORMS = ",Word,V.Mean.Sum,V.SD.Sum\n1,aardvark,6.26,2.21\n2,TRUE,7.0,1\n3,True,6.0,1\n"
TREES = "(3 (2 It) (4 (4 Love) (2 .)))\n(0 (0 Bad) (2 (3 love) (2 -LRB-)))\n"


@pytest.mark.parametrize(
    ("word", "known", "found"),
    [
        ("films", "film", "film"),
        ("movies", "movie movy", "movie"),
        ("ladies", "lady", "lady"),
        ("wishes", "wish", "wish"),
        ("wolves", "wolf", "wolf"),
        ("knives", "knife", "knife"),
        ("boss", "bos", None),
        ("film's", "film", "film"),
        ("dogs'", "dog", "dog"),
        ("walked", "walk", "walk"),
        ("hoped", "hop hope", "hope"),
        ("hopped", "hop hope", "hop"),
        ("missed", "miss mis", "miss"),
        ("cried", "cry", "cry"),
        ("agreed", "agree", "agree"),
        ("running", "run", "run"),
        ("making", "make", "make"),
        ("seeing", "see", "see"),
        ("funnier", "funny", "funny"),
        ("saddest", "sad", "sad"),
        ("nicer", "nice", "nice"),
        ("career", "care", None),
        ("ring", "r", None),
        ("film", "film", None),
        ("went", "go", None),
    ],
)
def test_forms_of_words(word, known, found):
    assert lemma(word, known.split()) == found


def test_a_word_is_found_exactly_or_as_a_form_and_how_is_said():
    lexicon = Lexicon("mine", {"film": 5.0, "movies": 2.0}, "value")
    assert lexicon.find("Film") == (5.0, "exact")
    assert lexicon.find("films") == (5.0, "lemma")
    assert lexicon.find("movies") == (2.0, "exact")
    for value, how in (lexicon.find("films", "exact"), lexicon.find("plot")):
        assert (math.isnan(value), how) == (True, "none")


def test_warriner_in_its_own_format(tmp_path):
    written(tmp_path / "warriner", "Ratings_Warriner_et_al.csv.gz", NORMS)
    found = load_lexicon("warriner", tmp_path)
    assert dict(found.values) == {"aardvark": 6.26, "true": 6.5}  # twice, in capitals and not: the mean
    assert (found.low, found.high) == (3.5, 6.5)


def test_warriner_that_is_not_there_says_where_to_get_it(tmp_path):
    with pytest.raises(BadData, match=r"Warriner's norms are not in .* or choose the lexicon vader"):
        load_lexicon("warriner", tmp_path)
    written(tmp_path / "warriner", "Ratings_Warriner_et_al.csv", "word,valence\nfilm,5\n")
    with pytest.raises(BadData, match=r"no column Word and no column V\.Mean\.Sum; it has: word, valence"):
        load_lexicon("warriner", tmp_path)


def test_vader_has_its_raters_means():
    vader = load_lexicon("vader")
    assert vader.values["wonderful"] == 2.7
    assert vader.values["terrible"] == -2.1
    assert len(vader.values) > 7000


def test_a_table_of_ones_own(tmp_path):
    path = written(tmp_path, "mine.csv", "word,value\nGood,1.5\nbad,-2\ngood,2.5\n")
    found = load_lexicon(str(path))
    assert (found.name, dict(found.values)) == ("mine", {"good": 2.0, "bad": -2.0})
    assert math.isnan(found.high)
    other = load_lexicon(str(written(tmp_path, "other.csv", "word,value\nbad,-2\ngood,2\n")))
    assert other.checksum == found.checksum
    assert load_lexicon("vader").checksum != found.checksum


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("term,value\ngood,1\n", "no column word; it has: term, value. Expected the columns word and value"),
        ("word,value\ngood,much\n", r"entry 1 \('good'\): a number was expected; got 'much'"),
        ("word,value\ngood,\n", r"entry 1 \('good'\): a number was expected"),
        ("word,value\ngood,inf\n", r"a number was expected; got 'inf'"),
    ],
)
def test_a_table_that_is_no_lexicon(text, said, tmp_path):
    with pytest.raises(BadData, match=said):
        load_lexicon(str(written(tmp_path, "mine.csv", text)))


def test_a_lexicon_that_there_is_not():
    with pytest.raises(BadData, match="no lexicon 'wariner' and no file of that name"):
        load_lexicon("wariner")


def test_the_words_of_the_treebank(tmp_path):
    for split in ("train", "dev", "test"):
        written(tmp_path / "sst", f"{split}.txt", TREES)
    assert sst.word_labels(tmp_path) == {"it": 2, "love": 3.5, ".": 2, "bad": 0, "(": 2}
    assert sst.word_labels(tmp_path, "last")["love"] == 3
    found = load_lexicon("sst", tmp_path)
    assert found.values["love"] >= found.high
    assert found.values["bad"] < found.low


def test_the_real_norms():
    found = load_lexicon("warriner", real("warriner"))
    assert 13_900 <= len(found.values) <= 13_915
    assert (found.values["aardvark"], found.values["happiness"]) == (6.26, 8.48)
    assert found.values["true"] > 6.5  # TRUE in the file
    assert found.find("crimes") == (found.values["crime"], "lemma")
    assert 1 < min(found.values.values()) < max(found.values.values()) < 9
