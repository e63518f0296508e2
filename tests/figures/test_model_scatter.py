"""Models beside a base: every one has its dot, the adversaries are joined by λ, and the ends of λ are named."""

import numpy as np
import pandas as pd
import pytest

from whence.core.errors import BadData
from whence.figures.model_scatter import model_scatter

# fmt: off
MODELS = pd.DataFrame({"who": ["base", "adversary", "adversary", "seed"], "JSD": [0.0, 0.1, 0.4, 0.2],
                       "TVD": [0.0, 0.1, 0.3, 0.1]})
MEANS = pd.DataFrame({"λ": [2.0, 0.5], "JSD": [0.4, 0.1], "JSD low": [0.3, 0.1], "JSD high": [0.5, 0.1],
                      "TVD": [0.3, 0.1], "TVD low": [0.2, 0.1], "TVD high": [0.4, 0.1]})
# fmt: on


def test_dots_line_and_names():
    (axes,) = model_scatter(MODELS, MEANS, {"JSD": "TVD"}, {"JSD": "how far"}).axes
    dots = [line for line in axes.lines if line.get_linestyle() == "None"]
    drawn = sorted(point for line in dots for point in zip(*line.get_data(), strict=True))
    assert [tuple(map(float, point)) for point in drawn] == [(0.0, 0.0), (0.1, 0.1), (0.2, 0.1), (0.4, 0.3)]
    joined = next(line for line in axes.lines if line.get_linestyle() == ":")
    np.testing.assert_allclose(np.asarray(joined.get_xdata(), float), [0.1, 0.4])
    assert [text.get_text() for text in axes.texts] == ["λ = 0.5", "λ = 2"]
    assert axes.get_xlabel() == "how far"
    assert {text.get_text() for text in axes.get_legend().get_texts()} == {
        "adversaries",
        "other seeds",
        "the model itself",
    }


def test_a_column_that_is_missing_is_named():
    with pytest.raises(BadData, match="TVD"):
        model_scatter(MODELS.drop(columns="TVD"), MEANS, {"JSD": "TVD"}, {})
