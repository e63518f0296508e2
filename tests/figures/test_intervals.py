import math

import pytest

from support.drawn import rectangles
from whence.core.errors import BadData
from whence.figures.intervals import intervals
from whence.results.verdict import Effect


def effect(name="lost", value=-1.2, low=-2.0, high=-0.4, unit="points", smallest=2.0):
    return Effect("lost", name, value, low, high, unit, smallest, 400, 5)


def test_dots_lines_and_bands_are_where_the_numbers_are():
    axes = intervals([effect(), effect("other", 5.0, 4.0, 6.0)]).axes[0]
    drawn = [list(line.get_xdata()) for line in axes.lines]
    assert [-2.0, -0.4] in drawn
    assert [-1.2] in drawn
    assert drawn.count([0, 0]) == 2
    assert [(band.get_x(), band.get_width()) for band in rectangles(axes)] == [(-2.0, 4.0)] * 2
    low, high = axes.get_xlim()
    assert low < -2 < 6 < high


def test_numbers_are_written_out():
    written = intervals([effect()]).axes[0].texts[0].get_text().replace("\N{NO-BREAK SPACE}", " ")
    assert written == "lost: −1.2 (−2.0 to −0.4)"


def test_what_could_not_be_measured_says_so():
    axes = intervals([effect(value=math.nan, low=math.nan, high=math.nan, smallest=math.nan)]).axes[0]
    assert "could not be measured" in axes.texts[0].get_text().replace("\N{NO-BREAK SPACE}", " ")


def test_one_figure_one_unit():
    with pytest.raises(BadData, match="must have one unit, got: nats, points"):
        intervals([effect(), effect(unit="nats")])
    with pytest.raises(BadData, match="no effects"):
        intervals([])
