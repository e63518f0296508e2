import numpy as np
import pandas as pd
import pytest

from whence.core.errors import BadData
from whence.figures.violins import binned, quartiles, violins


def table(n=60, labels=("neg", "pos")):
    random = np.random.default_rng(0)
    return pd.DataFrame({"w": random.random(n), "t": random.beta(1, 5, n), "label": random.choice(labels, n)})


def written(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def test_bins_are_closed_on_the_left_and_the_last_on_both_sides():
    by_hand = {0.0: 0, 0.2499: 0, 0.25: 1, 0.4999: 1, 0.5: 2, 0.7499: 2, 0.75: 3, 0.9: 3, 1.0: 3, 1.00005: 3}
    assert binned(np.array(list(by_hand)), 4).tolist() == list(by_hand.values())


def test_values_outside_are_refused():
    with pytest.raises(BadData, match=r"from 0 to 1; there are values from -0\.5 to 2"):
        binned(np.array([-0.5, 2.0]), 4)


def test_quartiles_by_hand_and_as_numpy_has_them():
    assert quartiles(np.array([0.0, 0.1, 0.2, 0.3, 0.4])) == (0.1, 0.2, 0.3)
    values = np.random.default_rng(1).random(101)
    assert quartiles(values) == tuple(np.percentile(values, [25, 50, 75]))


def test_the_quartiles_drawn_are_those_of_the_bin():
    data = table(400)
    figure = violins(data, "w", "t")
    low = np.quantile(data.loc[data["w"] < 0.25, "t"], [0.25, 0.75])
    bars = [line.get_xdata() for line in figure.axes[0].lines if len(line.get_xdata()) == 2]
    assert any(np.allclose(bar, low) for bar in bars)


def test_every_bin_says_how_many_there_are():
    data = pd.DataFrame({"w": [0.1] * 20 + [0.3] * 3, "t": np.linspace(0, 1, 23)})
    figure = violins(data, "w", "t")
    assert written(figure) == ["n = 20", "n = 3", "none", "none"]
    assert len(figure.axes[0].collections) == 1 + 1  # one violin and the lines between the bins
    dots = [line for line in figure.axes[0].lines if line.get_xdata().size == 3]
    assert dots[0].get_xdata().tolist() == np.linspace(0, 1, 23)[20:].tolist()


def test_labels_have_violins_of_their_own_up_to_six():
    assert len(written(violins(table(600), "w", "t", "label"))) == 8
    assert len(written(violins(table(600, range(6)), "w", "t", "label"))) == 24
    assert len(written(violins(table(600, range(7)), "w", "t", "label"))) == 4


def test_missing_numbers_are_counted():
    data = table(50)
    data.loc[[1, 2], "t"] = np.nan
    assert "2 rows without a number left out" in written(violins(data, "w", "t"))


@pytest.mark.parametrize("values", [[0.0] * 30, [0.3] * 29 + [0.3 + 1e-12], [1.0] * 30])
def test_values_that_are_all_the_same_can_be_drawn(values):
    violins(pd.DataFrame({"w": [0.1] * 30, "t": values}), "w", "t")


def test_no_rows_can_be_drawn():
    assert written(violins(table(0), "w", "t", "label")) == ["none"] * 4


def test_an_unknown_column_is_named():
    with pytest.raises(BadData, match="no column tvd; it has: w, t, label"):
        violins(table(), "w", "tvd")
