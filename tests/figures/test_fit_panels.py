import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from whence.core.errors import BadData
from whence.figures.fit_panels import SHOWN, fit_panels


def table(n=100, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(1, 9, n)
    named = (("lat", "trained", 1), ("lat", "untrained", 0), ("random", "trained", 0))
    rows = [
        pd.DataFrame({"x": x, "y": scale * (x - 5) ** 2 + rng.normal(size=n), "method": method, "state": state})
        for method, state, scale in named
    ]
    return pd.concat(rows)


def test_each_panel_has_its_points_and_parabolas():
    data = table()
    figure = fit_panels(data, "x", "y", "method", "state")
    assert [axes.get_title("left") for axes in figure.axes] == ["lat", "random"]
    points, own, beside = figure.axes[0].lines
    mine = data[(data["method"] == "lat") & (data["state"] == "trained")].sort_values("x")
    slow = np.polyfit(mine["x"], mine["y"], 2)
    np.testing.assert_allclose(own.get_ydata(), np.polyval(slow, own.get_xdata()), atol=1e-8)
    assert (own.get_xdata().min(), own.get_xdata().max()) == (mine["x"].min(), mine["x"].max())
    band = figure.axes[0].collections[0].get_paths()[0].vertices  # [corner xy]
    places = own.get_xdata()[::40]
    model = sm.OLS(mine["y"], np.vander(mine["x"], 3)).fit()
    wide = 2 * 1.96 * model.get_prediction(np.vander(places, 3)).se_mean
    edges = [band[np.isclose(band[:, 0], place), 1] for place in places]
    np.testing.assert_allclose([np.ptp(edge) for edge in edges], wide, rtol=1e-5)
    assert (own.get_linestyle(), beside.get_linestyle()) == ("-", "--")
    assert len(points.get_xdata()) == 99
    assert figure.axes[0].texts[0].get_text() == "100 words · 1 above not shown"


def test_few_points_have_no_parabola_and_many_are_thinned():
    few = fit_panels(table(5), "x", "y", "method", "state")
    assert len(few.axes[0].lines) == 1
    many = fit_panels(table(SHOWN + 300), "x", "y", "method", "state")
    assert len(many.axes[0].lines[0].get_xdata()) == SHOWN
    assert fit_panels(table(0), "x", "y", "method", "state").axes


def test_an_unknown_column_is_named():
    with pytest.raises(BadData, match="no column z"):
        fit_panels(table(), "x", "z", "method")
