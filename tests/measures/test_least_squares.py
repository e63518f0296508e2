"""Least squares: coefficients, errors, intervals and predictions are those of statsmodels."""

import numpy as np
import pytest
from statsmodels.regression.linear_model import OLS

from whence.measures.least_squares import least_squares


def data(rows=60, seed=0):
    random = np.random.default_rng(seed)
    columns = np.column_stack([np.ones(rows), random.normal(size=(rows, 3))])
    return columns @ [1.0, 0.5, 0.0, -2.0] + random.normal(size=rows) * (1 + np.abs(columns[:, 1])), columns


@pytest.mark.filterwarnings("ignore:The design matrix is rank-deficient")
@pytest.mark.parametrize("robust", [False, True])
@pytest.mark.parametrize("collinear", [False, True])
def test_the_fit_is_that_of_statsmodels(robust, collinear):
    y, columns = data()
    if collinear:
        columns = np.column_stack([columns, columns[:, 1] - columns[:, 2]])
    fit = least_squares(y, columns, robust)
    theirs = OLS(y, columns).fit(**({"cov_type": "HC3", "use_t": True} if robust else {}))
    for number in range(columns.shape[1]):
        ours = fit.coefficient(number)
        low, high = theirs.conf_int(0.05)[number]
        expected = [
            theirs.params[number],
            theirs.bse[number],
            theirs.tvalues[number],
            theirs.pvalues[number],
            low,
            high,
        ]
        found = [ours.value, ours.se, ours.t, ours.p, ours.low, ours.high]
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
    assert fit.r_squared == pytest.approx(theirs.rsquared)
    across = np.random.default_rng(1).normal(size=(7, columns.shape[1]))
    predicted = theirs.get_prediction(across)
    mean, se = fit.predicted(across)
    np.testing.assert_allclose(mean, predicted.predicted_mean, rtol=1e-8)
    np.testing.assert_allclose(se, predicted.se_mean, rtol=1e-8)
