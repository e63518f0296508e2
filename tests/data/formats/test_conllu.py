"""CoNLL-U by hand, by the library `conllu`, and the real treebank where it is installed."""

import gzip

import conllu
import pytest

from support.corpora import real, written
from whence.core.errors import BadConfig, BadData
from whence.data.corpora import ud_ewt
from whence.data.download.corpus_folder import CorpusFolder
from whence.data.formats.conllu import read_conllu
from whence.data.preview import preview
from whence.data.registry import load
from whence.data.syntax.trees import is_projective, share_before
from whence.data.tables.reader import Columns


def line(number, word, upos="X", head=0, relation="dep", xpos="_"):
    return "\t".join([str(number), word, word.lower(), upos, xpos, "_", str(head), relation, "_", "_"])


MADE = "\n".join(
    [
        "\ufeff# sent_id = 1",
        "# text = She don't sleep",
        line(1, "She", "PRON", 4, "nsubj", "PRP"),
        line("2-3", "don't", "_", "_", "_"),
        line(2, "do", "AUX", 4, "aux", "VBP"),
        line(3, "n't", "PART", 4, "advmod", "RB"),
        line(4, "sleep", "VERB", 0, "root", "VB"),
        line("4.1", "sleep", "VERB", "_", "_"),
        "",
        "",
        "# newdoc",
        line(1, "#1", "SYM", 0, "root", "NN"),
        line(2, "10 000", "NUM", 1, "nummod", "CD"),
    ]
)


def test_words_trees_and_tags_by_hand(tmp_path):
    for name in ("a.conllu", "b.conllu.gz"):
        first, second = read_conllu(written(tmp_path, name, MADE.replace("\n", "\r\n" if "gz" in name else "\n")))
        assert first.words == ("She", "do", "n't", "sleep")
        assert first.heads == (3, 3, 3, -1)
        assert first.relations == ("nsubj", "aux", "advmod", "root")
        assert (first.upos[1], first.xpos[1], first.joined, first.empty) == ("AUX", "VBP", 1, 1)
        assert (second.words, second.heads, second.joined, second.empty) == (("#1", "10 000"), (-1, 0), 0, 0)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1\tone\n", r"a\.conllu, line 1: 10 columns with tabs between were expected; got 2"),
        (line(2, "a"), "line 1: words numbered 1, 2, 3 and so on were expected in the first column; got '2'"),
        (line("x", "a"), "got 'x'"),
        (line("", "a"), "got ''"),
        ("# c\n" + line(1, "a", head="_"), "line 2: the number of its head .* word 1 has '_'"),
        (line("1-2", "a"), "there are no words"),
        (line(1, "a", head=2), r"line 1: no tree .*: heads are places of other words.* word 0 has the head 1"),
        (line(1, "a") + "\n" + line(2, "b"), r"line 1: no tree .* must have one root \(-1\); there are 2"),
        ("# only a comment\n\n", "holds no sentences"),
        ("", "is empty"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, text, says):
    with pytest.raises(BadData, match=says):
        read_conllu(written(tmp_path, "a.conllu", text))


def assert_as_the_library_reads_it(tmp_path, text):
    ours = read_conllu(written(tmp_path, "a.conllu", text))
    theirs = conllu.parse(text)
    assert len(ours) == len(theirs)
    for sentence, everything in zip(ours, theirs, strict=True):
        tokens = [token for token in everything if isinstance(token["id"], int)]
        assert sentence.words == tuple(token["form"] for token in tokens)
        assert sentence.heads == tuple(token["head"] - 1 for token in tokens)
        assert sentence.relations == tuple(token["deprel"] for token in tokens)
        assert sentence.upos == tuple(token["upos"] for token in tokens)
        assert sentence.xpos == tuple(token["xpos"] or "_" for token in tokens)
        between = [token["id"][1] for token in everything if not isinstance(token["id"], int)]
        assert (sentence.joined, sentence.empty) == (between.count("-"), between.count("."))


def test_the_library_conllu_reads_the_same(tmp_path):
    assert_as_the_library_reads_it(tmp_path, MADE.removeprefix("\ufeff"))


def test_the_library_conllu_reads_the_same_of_the_treebank(tmp_path):
    file = real("ud_ewt") / "ud_ewt" / "en_ewt-ud-dev.conllu.gz"
    assert_as_the_library_reads_it(tmp_path, gzip.decompress(file.read_bytes()).decode())


def test_the_treebank_has_tags_of_three_kinds(tmp_path):
    for name in ud_ewt.FILES:
        written(tmp_path / "ud_ewt", name, MADE)
    corpus = load("ud_ewt", data_dir=tmp_path)
    assert corpus["dev"][0].tags == ("PRON", "AUX", "PART", "VERB")
    assert corpus["dev"][0].heads == (3, 3, 3, -1)
    assert corpus["dev"][0].relations == ("nsubj", "aux", "advmod", "root")
    assert corpus.labels == ("AUX", "NUM", "PART", "PRON", "SYM", "VERB")
    assert "read 3 multiword tokens as the words they are made of" in corpus.notes
    assert "left 3 empty nodes out" in corpus.notes
    assert any("Universal Dependencies" in note for note in corpus.notes)
    assert load("ud_ewt:xpos", data_dir=tmp_path)["test"][0].tags == ("PRP", "VBP", "RB", "VB")
    assert load("ud_ewt:relations", data_dir=tmp_path)["test"][0].tags == corpus["dev"][0].relations
    with pytest.raises(BadConfig, match="ud_ewt has the tags upos, xpos, relations; 'lemma' is none"):
        load("ud_ewt", data_dir=tmp_path, tags="lemma")


def test_a_users_file_by_its_path(tmp_path):
    path = written(tmp_path, "mine.conllu.gz", MADE)
    corpus = load(path)
    assert corpus["test"][0].heads == (3, 3, 3, -1)
    assert corpus["test"][0].tags == ("PRON", "AUX", "PART", "VERB")
    assert corpus["test"][0].relations == ("nsubj", "aux", "advmod", "root")
    assert corpus["test"][1].words == ("#1", "10 000")
    assert "trees as annotated in mine.conllu.gz (CoNLL-U)" in corpus.notes
    assert preview(corpus)[0]["heads"] == "3 3 3 -1"
    assert load(path, columns=Columns(tags="xpos"))["test"][0].tags == ("PRP", "VBP", "RB", "VB")
    untagged = written(tmp_path, "bare.conllu", line(1, "a", "_", 0) + "\n" + line(2, "b", "_", 1) + "\n")
    assert load(untagged)["test"][0].tags is None
    assert load(untagged)["test"][0].heads == (-1, 0)


def test_trees_in_a_table_count_from_nought_or_from_one(tmp_path):
    rows = '{"tokens": ["a", "b"], "heads": [-1, 0]}\n{"tokens": ["a", "b"], "heads": ["2", "0"]}\n'
    corpus = load(written(tmp_path, "t.jsonl", rows))
    assert [e.heads for e in corpus["test"]] == [(-1, 0), (1, -1)]
    csv = load(written(tmp_path, "t.csv", "text,label,up\na b,x,0 1\nc d,y,2 0\n"), columns=Columns(heads="up"))
    assert [(e.words, e.heads, e.label) for e in csv["test"]] == [
        (("a", "b"), (-1, 0), "x"),
        (("c", "d"), (1, -1), "y"),
    ]
    spans = load(written(tmp_path, "s.jsonl", '{"tokens": ["a", "b"], "head": [0, 2], "label": "x"}\n'))
    assert spans["test"][0].heads is None, "an entity's place is no tree"


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ('["x"]', r"column 'heads' must hold each word's head as a number; .* in 1 of 1 rows"),
        ("[0, 0]", "row 1: heads must have one root"),
        ("[0]", "row 1: heads must name the head of every word; there are 1 heads and 2 words"),
    ],
)
def test_a_named_column_must_hold_trees(tmp_path, cell, says):
    path = written(tmp_path, "t.jsonl", '{"tokens": ["a", "b"], "heads": CELL}\n'.replace("CELL", cell))
    with pytest.raises(BadData, match=says):
        load(path, columns=Columns(tokens="tokens", heads="heads"))


def test_the_real_treebank():
    folder = CorpusFolder(ud_ewt.ENTRY, real("ud_ewt") / "ud_ewt")
    assert folder.modified() == []
    sentences = read_conllu(folder.paths("en_ewt-ud-dev.conllu")[0])
    assert (len(sentences), sum(len(sentence.words) for sentence in sentences)) == (2001, 25147)
    assert len({tag for sentence in sentences for tag in sentence.upos}) == 17
    assert share_before(sentence.heads for sentence in sentences) == pytest.approx(0.3888, abs=1e-4)
    assert sum(is_projective(sentence.heads) for sentence in sentences) == 1970
