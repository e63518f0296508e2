"""BLEU: beside sacrebleu's own, for single corpora and many at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from whence.measures.bleu import COUNTS, bleu, bleu_counts, sentence_bleu

WORDS = ["der", "Hund", "läuft", "heim", ".", "ein", "Mann"]
SENTENCE = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
PAIRS = st.lists(st.tuples(SENTENCE, SENTENCE.filter(bool)), min_size=1, max_size=6)


@given(PAIRS, st.booleans())
def test_a_corpus_as_sacrebleu_reckons_it(pairs, lowercase):
    written, wanted = map(list, zip(*pairs, strict=True))
    expected = BLEU(lowercase=lowercase).corpus_score(written, [wanted]).score
    counts = bleu_counts(written, wanted, lowercase=lowercase)
    assert float(bleu(counts.sum(0))) == pytest.approx(expected, abs=1e-9)


@given(PAIRS)
def test_sentences_as_sacrebleu_reckons_them(pairs):
    written, wanted = map(list, zip(*pairs, strict=True))
    expected = [BLEU(effective_order=True).sentence_score(a, [b]).score for a, b in pairs]
    np.testing.assert_allclose(sentence_bleu(bleu_counts(written, wanted)), expected, atol=1e-9)


def test_by_hand():
    """Four of five words, three of four pairs, two of three triples, one of two fours match; one word short."""
    counts = bleu_counts(["a b c d x"], ["a b c d e f"])
    assert counts.tolist() == [[4, 3, 2, 1, 5, 4, 3, 2, 5, 6]]
    expected = 100 * np.exp(1 - 6 / 5) * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25
    assert float(bleu(counts[0])) == pytest.approx(expected)


def test_many_corpora_at_once_and_how_often_a_draw_counts_does_not_matter():
    counts = bleu_counts(["a b c d", "a x c d e"], ["a b c d", "a b c d e"])
    both = bleu(np.stack([counts[0], counts.sum(0)]))
    assert both.tolist() == [float(bleu(counts[0])), float(bleu(counts.sum(0)))]
    assert float(bleu(5 * counts.sum(0))) == pytest.approx(float(bleu(counts.sum(0))))
    assert float(bleu(np.zeros(COUNTS))) == 0.0
