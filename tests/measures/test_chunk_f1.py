"""Chunks and their F1: beside seqeval, and by the rules of the script of CoNLL-2000 on sentences made by hand."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import f1_score, precision_score, recall_score

from whence.measures.chunk_f1 import COUNTS, chunk_counts, chunk_f1, is_iob, segments, sentence_f1

TAG = st.sampled_from(["O", "B-NP", "I-NP", "B-VP", "I-VP", "B-NP-x", "I-NP-x"])
PAIRS = st.lists(
    st.integers(1, 8).flatmap(lambda n: st.tuples(*[st.lists(TAG, min_size=n, max_size=n)] * 2)), min_size=1, max_size=5
)


def with_seqeval(measure, true, said):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where there are no chunks
        return 100 * measure(true, said)


@given(PAIRS)
def test_a_corpus_as_seqeval_reckons_it(pairs):
    said, true = map(list, zip(*pairs, strict=True))
    right, found, wanted = chunk_counts(said, true).sum(0)
    assert 100 * right / max(found, 1) == pytest.approx(with_seqeval(precision_score, true, said))
    assert 100 * right / max(wanted, 1) == pytest.approx(with_seqeval(recall_score, true, said))
    assert float(chunk_f1(chunk_counts(said, true).sum(0))) == pytest.approx(with_seqeval(f1_score, true, said))


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("", []),
        ("O O", []),
        ("B-NP I-NP O B-VP", [(0, 2, "NP"), (3, 4, "VP")]),
        ("B-NP B-NP I-NP", [(0, 1, "NP"), (1, 3, "NP")]),  # B always begins another
        ("I-NP I-NP O", [(0, 2, "NP")]),  # I at the beginning begins a chunk
        ("O I-NP", [(1, 2, "NP")]),  # I after O too
        ("B-NP I-VP I-VP", [(0, 1, "NP"), (1, 3, "VP")]),  # and I after another kind
        ("I-NP B-NP I-VP", [(0, 1, "NP"), (1, 2, "NP"), (2, 3, "VP")]),
    ],
)
def test_where_chunks_begin_and_end(tags, expected):
    """The rules startOfChunk and endOfChunk of conlleval for B, I and O."""
    assert segments(tags.split()) == expected


def test_by_hand():
    """Of three true chunks two are found; one is cut short, and one is of another kind."""
    true = [["B-NP", "I-NP", "B-VP", "B-NP", "O"], ["B-PP", "O"]]
    said = [["B-NP", "O", "B-VP", "B-NP", "O"], ["B-NP", "O"]]
    counts = chunk_counts(said, true)
    assert counts.tolist() == [[2, 3, 3], [0, 1, 1]]
    assert float(chunk_f1(counts.sum(0))) == pytest.approx(100 * 2 * (2 / 4) * (2 / 4) / (2 / 4 + 2 / 4))
    assert sentence_f1(counts).tolist() == pytest.approx([100 * 2 / 3, 0.0])


def test_sentences_without_chunks_and_many_corpora_at_once():
    counts = chunk_counts([["O"], ["O"], ["B-NP"]], [["O"], ["B-NP"], ["B-NP"]])
    assert sentence_f1(counts).tolist() == [100.0, 0.0, 100.0]
    assert chunk_f1(counts).tolist() == [0.0, 0.0, 100.0]
    assert float(chunk_f1(5 * counts.sum(0))) == float(chunk_f1(counts.sum(0)))
    assert chunk_counts([], []).shape == (0, COUNTS)
    with pytest.raises(ValueError, match="expected as many tags as words; got 1 tags for 2 words"):
        chunk_counts([["O"]], [["O", "O"]])


@pytest.mark.parametrize(
    ("labels", "chunks"),
    [
        (("O", "B-NP", "I-NP"), True),
        (("B-NP",), True),
        (("O",), False),
        ((), False),
        (("person", "animal", "root"), False),
        (("O", "B-NP", "X"), False),
        (("O", "B-", "I-NP"), False),
        (("NOUN", "VERB", "O"), False),
        (("O", "B-PER", "S-PER"), False),
    ],
)
def test_which_labels_are_those_of_chunks(labels, chunks):
    assert is_iob(labels) is chunks
