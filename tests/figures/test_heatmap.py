import numpy as np
import pandas as pd
import pytest

from whence.core.errors import BadData
from whence.figures.heatmap import heatmap

CELLS = pd.DataFrame({"1": [0.2, np.nan], "chance": [0.05, 0.1], "2": [0.123, 0.0]}, index=["both", "v.pos"])


def test_numbers_stand_in_their_squares_and_chance_apart():
    marked = pd.DataFrame({"1": [True, False], "2": [False, False]}, index=CELLS.index)
    axes = heatmap(CELLS, ("chance",), marked, "head", "bold: surely").axes[0]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["chance", "1", "2"]
    left, first, second = axes.get_xticks()
    assert first - left > second - first  # a gap after chance
    cells = {text.get_text(): text for text in axes.texts}
    assert {".05", ".10", ".20", "–", ".12", ".00", "bold: surely"} == set(cells)
    assert (cells[".20"].get_weight(), cells[".12"].get_weight()) == ("bold", "normal")
    assert cells[".20"].get_position() == (first, 0)
    shades = {patch.get_xy(): patch.get_facecolor() for patch in axes.patches}
    assert sum(shades[first - 0.5, -0.5][:3]) < sum(shades[second - 0.5, -0.5][:3])  # the larger, the darker


def test_nothing_above_zero_can_be_drawn_and_too_much_cannot():
    assert heatmap(pd.DataFrame({"a": [0.0]})).axes
    with pytest.raises(BadData, match="one to 24 columns; there are 25"):
        heatmap(pd.DataFrame({str(number): [0.1] for number in range(25)}))
