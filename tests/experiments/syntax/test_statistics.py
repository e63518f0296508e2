"""Statistics of `syntax`: intervals, baselines, Holm's correction over heads."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from statsmodels.stats.multitest import multipletests

from support.experiments.syntax import row
from whence.analysis.syntax.heads import Pooled, ranking
from whence.data.syntax.forest import TRUE
from whence.measures.holm import holm
from whence.measures.intervals import mean_interval


def test_intervals_are_those_of_a_t_test_and_pairs_are_one_unit():
    rng = np.random.default_rng(0)
    half = rng.normal(size=(150, 2))
    values = np.concatenate([half, -half]) + 0.1  # not skewed
    found = Pooled(np.arange(300)).mean(values)
    plain = mean_interval(values[None, :, 0])
    assert found.mean[0] == pytest.approx(values[:, 0].mean())
    assert (found.low[0], found.high[0]) == pytest.approx((plain.low, plain.high))
    assert found.error[1] == pytest.approx(values[:, 1].std(ddof=1) / np.sqrt(300))
    twice = Pooled(np.repeat(np.arange(300), 2)).mean(np.repeat(values, 2, axis=0))
    assert_allclose(twice.error, found.error)  # two texts that are alike tell no more than one
    some = values.copy()
    some[::3] = np.nan
    assert Pooled(np.arange(300)).mean(some).mean[0] == pytest.approx(np.nanmean(some[:, 0]))
    assert np.isnan(Pooled(np.arange(300)).mean(np.full((300, 2), np.nan)).mean).all()


def test_the_baseline_that_is_hardest_to_beat_counts_and_holm_over_heads():
    made = []
    for head, (one, two) in enumerate([(-0.5, -0.4), (-0.9, -0.12), (-0.3, 0.4)]):
        made += [
            row(head, TRUE, np.nan, np.nan, attachment=0.3 + 0.1 * head),
            row(head, "uniform", one, 0.1),
            row(head, "chain", two, 0.1),
        ]
    ranked = ranking(pd.DataFrame(made))
    assert ranked["head"].tolist() == [0, 1, 2]
    assert ranked["nearest"].tolist() == ["chain"] * 3
    each = [norm.cdf((two + 0.1) / 0.1) for two in (-0.4, -0.12, 0.4)]
    expected = [3 * each[0], 2 * each[1], 1.0]
    assert_allclose(ranked["p_holm"], expected, rtol=1e-6)
    assert ranked["low"][0] == pytest.approx(-0.4 - norm.isf(0.025 / 3) * 0.1)
    sure = [norm.sf((share - 0.25) / 0.02) for share in (0.3, 0.4, 0.5)]
    assert_allclose(ranked["attachment_p_holm"], [sure[0], 2 * sure[1], 3 * sure[2]], rtol=1e-6)


def test_holm_is_that_of_statsmodels():
    p = np.random.default_rng(0).random(40) ** 4
    assert_allclose(holm(p), multipletests(p, method="holm")[1])


def test_nothing_that_varies_is_sure_or_not_at_all():
    made = [
        row(1, TRUE, np.nan, np.nan),
        row(1, "chain", -0.4, 0.0),
        row(2, TRUE, np.nan, np.nan),
        row(2, "chain", -0.05, 0.0),
    ]
    assert ranking(pd.DataFrame(made))["p_holm"].tolist() == [0.0, 1.0]
