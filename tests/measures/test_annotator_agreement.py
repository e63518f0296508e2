"""Agreement beyond chance: equal to scikit-learn, to `krippendorff` and to tables by hand; intervals that cover."""

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from whence.annotation.synthetic import Annotator
from whence.measures.annotator_agreement import alpha_of, cohen_kappa, coincidences, kappa_of, krippendorff_alpha
from whence.measures.intervals import Interval, difference, share_interval


def answers(seed, annotators=2, items=60, codes=2, missing=0.0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(codes, size=items)
    given = np.where(rng.random((annotators, items)) < 0.8, truth, rng.integers(codes, size=(annotators, items)))
    return np.where(rng.random(given.shape) < missing, np.nan, given.astype(float))


def test_kappa_by_hand():
    """Cohen's table: 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: (0.7 − 0.5) / (1 − 0.5)."""
    first = np.repeat([1.0, 1.0, 0.0, 0.0], [20, 5, 10, 15])
    second = np.repeat([1.0, 0.0, 1.0, 0.0], [20, 5, 10, 15])
    assert cohen_kappa(np.stack([first, second])).mean == pytest.approx(0.4)
    assert kappa_of(np.array([[15.0, 10.0], [5.0, 20.0]])) == pytest.approx(0.4)


def test_alpha_by_hand():
    """Krippendorff 2011, two observers, ten binary units: alpha = 0.095."""
    given = np.array([[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]], dtype=float)
    assert krippendorff_alpha(given).mean == pytest.approx(0.095, abs=5e-4)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("codes", [2, 3])
def test_kappa_and_its_jackknife_are_those_of_the_library(seed, codes):
    given = answers(seed, codes=codes)
    found = cohen_kappa(given)
    assert found.mean == pytest.approx(cohen_kappa_score(*given))
    sums = np.zeros((60, codes, codes))
    sums[np.arange(60), given[0].astype(int), given[1].astype(int)] = 1
    slow = [cohen_kappa_score(*np.delete(given, at, axis=1)) for at in range(60)]
    assert kappa_of(sums.sum(0) - sums) == pytest.approx(slow)
    assert found.low < found.mean < found.high <= 1


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("annotators", "codes", "missing"), [(2, 2, 0.0), (3, 2, 0.3), (5, 3, 0.5)])
def test_alpha_and_its_jackknife_are_those_of_the_library(seed, annotators, codes, missing):
    given = answers(seed, annotators, codes=codes, missing=missing)
    found = krippendorff_alpha(given)
    assert found.mean == pytest.approx(krippendorff.alpha(given, level_of_measurement="nominal"))
    paired = given[:, np.isfinite(given).sum(0) > 1]
    sums = coincidences(paired)
    slow = [
        krippendorff.alpha(np.delete(paired, at, axis=1), level_of_measurement="nominal")
        for at in range(paired.shape[1])
    ]
    assert alpha_of(sums.sum(0) - sums) == pytest.approx(slow)
    assert found.low < found.mean < found.high <= 1


def test_items_of_several_words_are_left_out_together():
    given, items = answers(1), np.repeat(np.arange(12), 5)
    by_word, by_item = krippendorff_alpha(given), krippendorff_alpha(given, items)
    assert by_item.mean == by_word.mean
    slow = [krippendorff.alpha(given[:, items != at], level_of_measurement="nominal") for at in range(12)]
    pseudo = 12 * by_item.mean - 11 * np.array(slow)
    assert by_item.low < by_item.mean - pseudo.std(ddof=1) / 12**0.5 < by_item.mean


def test_one_answer_throughout_cannot_be_measured():
    assert np.isnan(krippendorff_alpha(np.ones((2, 30))).mean)
    assert np.isnan(cohen_kappa(np.ones((2, 30))).mean)
    with pytest.raises(ValueError, match="two annotators"):
        cohen_kappa(np.ones((3, 30)))


def test_agreement_without_exception_has_no_interval():
    given = np.tile(np.array([0.0, 1.0] * 15), (2, 1))
    found = krippendorff_alpha(given)
    assert found.mean == 1
    assert np.isnan(found.low)


def test_the_interval_of_kappa_covers_the_kappa_that_is_known():
    person, relevant, inside = Annotator(0.9, 0.9), 0.5, 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        truth = rng.random(100) < relevant
        says = rng.random((2, 100)) < np.where(truth, person.sensitivity, 1 - person.specificity)
        found = cohen_kappa(says.astype(float))
        inside += found.low <= person.expected_kappa(relevant) <= found.high
    assert inside / 300 > 0.92


def test_the_difference_of_two_shares_is_newcombes():
    """Newcombe 1998, Table II (a), method 10: 56/70 − 48/80 = 0.2, 0.0524 to 0.3339."""
    found = difference(share_interval(56, 70), share_interval(48, 80))
    assert (found.mean, found.low, found.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)
    turned = difference(share_interval(48, 80), share_interval(56, 70))
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low))
    assert isinstance(found, Interval)
