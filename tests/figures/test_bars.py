import pandas as pd
import pytest

from support.drawn import rectangles
from whence.core.errors import BadData
from whence.figures.bars import bars


def table():
    rows = [
        ("sst", "base", 83.0, 82.0, 84.0),
        ("sst", "uniform", -4.0, -6.0, -1.0),
        ("snli", "uniform", 33.0, 32.0, 34.0),
    ]
    return pd.DataFrame(rows, columns=["task", "variant", "value", "low", "high"])


def test_bars_intervals_and_numbers_are_where_they_should_be():
    (axes,) = bars(table(), "task", "variant", "value", "low", "high", "accuracy").axes
    assert [bar.get_width() for bar in rectangles(axes)] == [33.0, 83.0, -4.0]  # from below, groups as they come
    drawn = [list(line.get_xdata()) for line in axes.lines]
    for interval in ([82.0, 84.0], [-6.0, -1.0], [32.0, 34.0]):
        assert interval in drawn
    written = [text.get_text() for text in axes.texts]
    assert written == ["snli", "33.0", "sst", "83.0", "−4.0"]
    heights = {bar.get_width(): bar.get_y() for bar in rectangles(axes)}
    assert heights[83.0] > heights[-4.0] > heights[33.0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["base", "uniform"]
    low, high = axes.get_xlim()
    assert low < -6
    assert high > 84


def test_without_intervals():
    (axes,) = bars(table(), "task", "variant", "value").axes
    assert [list(line.get_xdata()) for line in axes.lines] == [[0, 0]] * 3


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(BadData, match="several rows with the same task and variant"):
        bars(pd.concat([table(), table()]), "task", "variant", "value")
    with pytest.raises(BadData, match="one to 6 bars a group; got 0"):
        bars(table()[:0], "task", "variant", "value")
    with pytest.raises(BadData, match="no column nope"):
        bars(table(), "task", "nope", "value")
