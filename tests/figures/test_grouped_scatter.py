import numpy as np
import pandas as pd
import pytest

from whence.core.errors import BadData
from whence.figures.curves import COLOURS, curves
from whence.figures.grouped_scatter import grouped_scatter

TABLE = pd.DataFrame({"x": [0.1, 0.2, 5.0, np.nan], "y": [1.0, 0.5, 0.0, 1.0], "kind": ["a", "b", "b", "c"]})


def test_every_group_is_where_it_is_and_in_its_colour():
    (axes,) = grouped_scatter(TABLE, "x", "y", "kind", ["c", "a", "b"], "how fast", "how much").axes
    drawn = {line.get_label(): line for line in axes.lines}
    assert list(drawn) == ["a", "b"]  # of c nothing is known
    assert list(drawn["b"].get_xdata()) == [0.2, 5.0]
    assert list(drawn["b"].get_ydata()) == [0.5, 0.0]
    assert [line.get_color() for line in drawn.values()] == list(COLOURS[1:3])
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_xscale()) == ("how fast", "how much", "log")


def test_a_narrow_range_is_drawn_as_it_is():
    (axes,) = grouped_scatter(TABLE[:2], "x", "y", "kind", ["a", "b"]).axes
    assert axes.get_xscale() == "linear"
    (empty,) = grouped_scatter(TABLE[3:], "x", "y", "kind", ["c"]).axes
    assert not empty.lines
    with pytest.raises(BadData, match="one to 7 groups; got 0"):
        grouped_scatter(TABLE, "x", "y", "kind", [])


def test_curves_mark_until_where_something_held():
    (axes,) = curves(TABLE[:3].assign(line="one"), "x", "y", "line", until=0.15).axes
    assert [line.get_xdata()[0] for line in axes.lines if line.get_linestyle() == ":"] == [0.15]
