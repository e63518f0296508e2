"""Bars in order, and strips of many numbers."""

import numpy as np
import pandas as pd
import pytest

from support.drawn import rectangles
from whence.core.errors import BadData
from whence.figures.ranking import MOST, ranking
from whence.figures.strips import strips
from whence.figures.style import PALETTE

# fmt: off
TABLE = pd.DataFrame({"part": ["good", "dull", "film"], "v": [2.0, 1.0, -0.5], "lo": [1.5, np.nan, -1.0],
                      "hi": [2.5, np.nan, 0.0]})
# fmt: on


def test_bars_are_in_order_with_their_intervals():
    (axes,) = ranking(TABLE, "part", "v", "lo", "hi", "nats").axes
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["good", "dull", "film"]
    assert [bar.get_width() for bar in rectangles(axes)] == [2.0, 1.0, -0.5]
    assert axes.yaxis_inverted()
    assert axes.patches[2].get_facecolor() != axes.patches[0].get_facecolor()
    assert list(axes.lines[0].get_xdata()) == [1.5, 2.5]
    assert axes.get_xlabel() == "nats"


def test_a_ranking_has_some_bars_and_not_too_many():
    with pytest.raises(BadData, match=f"one to {MOST} bars; got 0"):
        ranking(TABLE[:0], "part", "v", "lo", "hi")
    with pytest.raises(BadData, match="got 60"):
        ranking(pd.concat([TABLE] * 20), "part", "v", "lo", "hi")


def test_strips_are_coloured_by_sign_and_size():
    cells = pd.DataFrame(np.array([[0.0, 1.0, -1.0], [0.5, np.nan, 0.0]]), index=["layer 1", "layer 2"])
    axes = strips(cells, "unit", "nats").axes[0]
    (image,) = axes.images
    assert image.get_clim() == pytest.approx((-image.get_clim()[1], image.get_clim()[1]))
    assert list(image.cmap(1.0)[:3]) == pytest.approx(
        [int(PALETTE[0][i : i + 2], 16) / 255 for i in (1, 3, 5)], abs=0.01
    )
    assert list(image.get_extent()) == [0.5, 3.5, 1.5, -0.5]
    assert strips(cells * 0.0).axes[0].images[0].get_clim() == (-1.0, 1.0)
    with pytest.raises(BadData, match="got 0 and 3"):
        strips(cells[:0])
