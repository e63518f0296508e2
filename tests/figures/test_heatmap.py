import numpy as np
import pandas as pd
import pytest

from support.drawn import rectangles
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
    assert (cells[".20"].get_fontweight(), cells[".12"].get_fontweight()) == ("bold", "normal")
    assert cells[".20"].get_position() == (first, 0)
    shades = {patch.get_xy(): patch.get_facecolor() for patch in rectangles(axes)}
    assert sum(shades[first - 0.5, -0.5][:3]) < sum(shades[second - 0.5, -0.5][:3])  # the larger, the darker


def test_nothing_above_zero_can_be_drawn_and_too_much_cannot():
    assert heatmap(pd.DataFrame({"a": [0.0]})).axes
    with pytest.raises(BadData, match="one to 24 columns; got 25"):
        heatmap(pd.DataFrame({str(number): [0.1] for number in range(25)}))


def test_numbers_are_written_whole():
    texts = heatmap(pd.DataFrame({"a": [10.5, 20.0, 0.5, -0.25, -0.001, 100.25]})).axes[0].texts
    assert [text.get_text() for text in texts] == ["10.50", "20.00", ".50", "-.25", ".00", "100.25"]


@pytest.mark.parametrize("n", [10, 12, 15])
def test_numbers_stay_in_their_squares(n):
    names = [f"{number}  integrated_gradients" for number in range(1, n + 1)]
    cells = pd.DataFrame(np.full((n, n), -0.23), index=names, columns=[str(number) for number in range(n)])
    figure = heatmap(cells)
    figure.canvas.draw()
    (axes,) = figure.axes
    square = axes.patches[0].get_window_extent().width
    assert max(text.get_window_extent().width for text in axes.texts) < 0.95 * square
