"""Every kind of case has a proof, and proofs fail where a case is not what it says."""

import numpy as np
import pytest
import torch

from whence.calibration import claims, measured
from whence.calibration.case import Case, Claim, ProofFailed
from whence.calibration.cases import attends, carriers
from whence.calibration.kinds import KINDS
from whence.calibration.texts import Texts, decides, replaced, with_noise

SOME = ["carrier-decoder", "ablations-contradict", "past-tagger", "pair-matching", "two-copies", "majority-lopsided"]


def test_there_are_24_kinds_and_more():
    assert len(KINDS) >= 24
    assert all(kind.about and kind.family for kind in KINDS.values())


@pytest.mark.parametrize("name", SOME)
def test_cases_have_a_proof_and_answers(name):
    case = KINDS[name].make(11, 20)
    assert len(case.corpus["test"]) == 20
    assert set(case.answers) <= {0, 1, 2, 3, 5, 6}
    assert case.proof


def test_a_claim_outside_its_bounds_is_an_error():
    case = attends.bert(0, 20)
    with pytest.raises(ProofFailed, match=r"accuracy: 0\.5 \(at least 1\)"):
        Case(case.subject, case.corpus, {1: "yes"}, (Claim("accuracy", 0.5, at_least=1.0),))
    with pytest.raises(ProofFailed, match="without a proof"):
        Case(case.subject, case.corpus, {1: "yes"}, ())


def test_proofs_tell_a_carrier_from_a_model_that_attends_to_the_deciding_word():
    carrier, faithful = carriers.next_word(0, 20), attends.bert(0, 20)
    examples = faithful.corpus["test"]
    assert not claims.attends_to_deciding(carrier.subject, examples).holds
    assert not claims.attended_word_is_idle(faithful.subject, examples).holds
    assert not claims.attention_is_idle(faithful.subject, examples).holds
    assert not claims.right_if_uniform(faithful.subject, examples).holds


def test_replacements_are_counted_as_a_loop_counts_them():
    subject, examples = attends.attends(0), Texts().examples(0, 6)
    places, changed = [0, 1, 2, 3, 4, 5], []
    for example, place in zip(examples, places, strict=True):
        (own,) = measured.decisions(subject, [example])
        for word in measured.undeciding(""):
            if word != example.words[place]:
                changed.append(measured.decisions(subject, [replaced(example, place, word)])[0] != own)
    assert measured.changed_by_words(subject, examples, places, measured.undeciding) == pytest.approx(np.mean(changed))


def test_jensen_shannon_is_scipy_s():
    from scipy.spatial.distance import jensenshannon

    p, q = torch.rand(4, 7), torch.rand(4, 7)
    np.testing.assert_allclose(measured._jsd(p, q), jensenshannon(p, q, axis=1) ** 2, atol=1e-6)


def test_texts_hold_one_deciding_word_and_words_that_lean_elsewhere():
    examples = Texts(classes=3, clear_end=2).examples(5, 60)
    assert {e.label for e in examples} == {"first", "second", "third"}
    for example in examples:
        marked = [word for word, mark in zip(example.words, example.rationale, strict=True) if mark]
        assert len(marked) == 1
        assert marked[0] in decides()
        assert not any(example.rationale[-2:])


def test_noise_changes_the_stated_share_of_labels():
    corpus = Texts().corpus(0, 50)
    noisy = with_noise(corpus, 0.2, 1)
    assert sum(a.label != b.label for a, b in zip(corpus["test"], noisy["test"], strict=True)) == 10
