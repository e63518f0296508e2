import numpy as np
import pandas as pd
import pytest

from whence.core.errors import BadData
from whence.figures.scatter import SHOWN, bands, scatter


def table(n=200):
    random = np.random.default_rng(0)
    return pd.DataFrame({"a": random.random(n), "b": random.normal(size=n)})


def note(figure):
    return figure.axes[0].texts[0].get_text()


def test_bands_are_the_quantiles_of_equal_bins():
    data = table()
    data.loc[0, "a"] = 1.0  # the last bin is closed
    found = bands(data["a"].to_numpy(), data["b"].to_numpy(), 4)
    for number, (left, right, quantiles) in enumerate(found):
        assert (left, right) == pytest.approx((number / 4, (number + 1) / 4))
        inside = data[(data["a"] >= left) & ((data["a"] < right) | (number == 3))]["b"]
        np.testing.assert_allclose(quantiles, np.percentile(inside, [5, 25, 50, 75, 95]))


def test_a_bin_of_few_points_has_no_band():
    x = np.array([0.1] * 8 + [0.9] * 7 + [1.0] * 0)
    assert [(left, right) for left, right, _ in bands(x, x, 2)] == [(0.0, 0.45)]
    assert bands(np.array([]), np.array([]), 3) == []


def test_medians_are_drawn_where_they_are():
    data = table()
    lines = [list(line.get_ydata()) for line in scatter(data, "a", "b", bins=1).axes[0].lines]
    assert any(np.allclose(line, data["b"].median()) for line in lines if len(line) == 2)


def test_what_is_not_shown_is_said():
    data = table(30)
    data.loc[[1, 2], "b"] = np.nan
    assert note(scatter(data, "a", "b")).endswith("· 2 left out")
    many = scatter(table(SHOWN + 500), "a", "b")
    assert note(many).endswith("· 2,000 of 2,500 points shown")
    assert len(many.axes[0].lines[0].get_xdata()) == SHOWN
    assert "shown" not in note(scatter(table(10), "a", "b"))


def test_nothing_can_be_drawn_and_an_unknown_column_is_named():
    assert scatter(table(0), "a", "b").axes
    with pytest.raises(BadData, match="no column c; it has: a, b"):
        scatter(table(), "a", "c")
