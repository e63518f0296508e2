import numpy as np
import pandas as pd

from whence.figures.distributions import distributions


def test_each_name_has_its_violin_and_what_is_missing_is_counted():
    values = pd.Series(np.linspace(0, 1, 41))
    figure = distributions({"first": values, "second": values.where(values > 0.5)}, "share", missing="never")
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["second", "first"]  # from below
    assert [text.get_text() for text in axes.texts] == ["n = 20", "never: 21", "n = 41"]
    bars = [list(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 2]
    assert any(np.allclose(bar, [0.25, 0.75]) for bar in bars)


def test_nothing_and_one_value_can_be_drawn():
    (axes,) = distributions({"none": pd.Series([np.nan, np.nan]), "one": pd.Series([0.5])}).axes
    assert [text.get_text() for text in axes.texts] == ["n = 1", "none", "missing: 2"]
