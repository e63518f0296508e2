import pandas as pd
import pytest

from whence.core.errors import BadData
from whence.figures.layer_panels import layer_panels


def table(tasks=("one_task", "two", "three"), lines=("up", "down")):
    return pd.DataFrame(
        [
            {"task": task, "line": line, "layer": layer, "value": 10.0 * t + n - layer, "low": -1.0, "high": 30.0}
            for t, task in enumerate(tasks)
            for n, line in enumerate(lines)
            for layer in (2, 0, 1)
        ]
    )


def test_a_small_panel_for_each_task_with_its_levels():
    figure = layer_panels(table(), "task", "line", {"one_task": 0.5, "two": 12.0}, {"two": 3.0}, "right (%)")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["one task", "two", "three"]
    for number, axes in enumerate(figure.axes):
        drawn = [(list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines]
        assert drawn[0] == ([0.0, 1.0, 2.0], [10.0 * number - layer for layer in (0, 1, 2)])
        assert len(axes.collections) == 2
        assert len(drawn) == 2 + (1, 2, 0)[number]
    assert figure.axes[1].lines[2].get_ydata()[0] == 12.0
    assert figure.axes[1].lines[3].get_linestyle() == "--"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["up", "down"]
    told = layer_panels(table(), "task", "line", {"one_task": 0.5}, {"one_task": 1.0}, "y", ("least", "bag"))
    assert [text.get_text() for text in told.legends[0].get_texts()] == ["up", "down", "least", "bag"]
    assert len(layer_panels(table(("one",)), "task", "line", {}, {}, "y").axes) == 1


def test_too_many_lines_and_unknown_columns_are_refused():
    with pytest.raises(BadData, match="one to 7 lines; got 8"):
        layer_panels(table(lines=range(8)), "task", "line", {}, {}, "y")
    with pytest.raises(BadData, match="layer"):
        layer_panels(table().drop(columns="layer"), "task", "line", {}, {}, "y")
