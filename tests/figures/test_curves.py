import pandas as pd
import pytest

from whence.core.errors import BadData
from whence.figures.curves import curves


def table(groups=("one", "two"), lines=("up", "down")):
    rows = [
        {"group": group, "line": line, "x": x, "y": 10.0 * g + number - x, "low": 10.0 * g - x, "high": 11.0 * g}
        for g, group in enumerate(groups)
        for number, line in enumerate(lines)
        for x in (2, 0, 1)
    ]
    return pd.DataFrame(rows)


def test_lines_are_where_the_numbers_are_a_panel_for_each_group():
    figure = curves(table(), "x", "y", "line", "group", "low", "high", {"one": 0.5, "two": 12.0})
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["one", "two"]
    for group, axes in enumerate(figure.axes):
        drawn = [(list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines]
        for number in (0, 1):
            assert ([0.0, 1.0, 2.0], [10.0 * group + number - x for x in (0, 1, 2)]) in drawn
        assert [0.5, 12.0][group] in drawn[-1][1]  # the dotted line
        assert len(axes.collections) == 2
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["up", "down"]


def test_bands_and_bases_and_panels_can_be_left_out():
    (axes,) = curves(table(("one",)), "x", "y", "line").axes
    assert not axes.collections
    assert len(axes.lines) == 2
    assert axes.get_title(loc="left") == ""


def test_too_many_lines_and_unknown_columns_are_refused():
    with pytest.raises(BadData, match="one to 7 lines; got 8"):
        curves(table(lines=range(8)), "x", "y", "line")
    with pytest.raises(BadData, match="no column nope"):
        curves(table(), "x", "nope", "line")
