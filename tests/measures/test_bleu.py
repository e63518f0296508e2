"""BLEU: beside sacrebleu's own, for single corpora, many at once, and resampled."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from whence.measures.bleu import COUNTS, bleu, bleu_counts, sentence_bleu
from whence.measures.bootstrap import paired_bootstrap, paired_bootstrap_of, resampled

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


def test_resampling_is_that_of_the_mean_where_the_measure_is_a_mean():
    """With a measure that is a mean, the interval is about that of the plain paired bootstrap."""
    rng = np.random.default_rng(0)
    base, altered = rng.random((3, 200)), rng.random((3, 200))
    counts = [np.stack([values, np.ones_like(values)], -1) for values in (base, altered)]
    found = paired_bootstrap_of(lambda c: c[..., 0] / c[..., 1], *counts)
    expected = paired_bootstrap(base - altered)
    assert found.mean == pytest.approx(expected.mean)
    assert found.low == pytest.approx(expected.low, abs=0.01)
    assert found.high == pytest.approx(expected.high, abs=0.01)


def test_resampled_before_and_after_are_of_the_same_examples():
    counts = np.stack([np.arange(50.0), np.ones(50)], -1)[None]
    before, after = resampled(lambda c: c[..., 0] / c[..., 1], counts, counts + np.array([3.0, 0.0])).T
    np.testing.assert_allclose(after - before, 3.0)
    assert before.std() > 1


def test_nothing_cannot_be_resampled():
    with pytest.raises(ValueError, match="expected counts"):
        resampled(bleu, np.ones((1, 0, COUNTS)), np.ones((1, 0, COUNTS)))
