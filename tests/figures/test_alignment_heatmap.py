import numpy as np
import pytest

from support.drawn import rectangles
from whence.core.errors import BadData
from whence.figures.alignment_heatmap import FEW, MOST, alignment_heatmap
from whence.figures.style import as_svg

WEIGHTS = np.array([[0.9, 0.1, 0.0], [0.2, 0.3, 0.5]])


def test_words_weights_and_links_are_drawn():
    figure = alignment_heatmap(["one", "two", "three"], ["eins", "zwei"], WEIGHTS, [(0, 0), (2, 1)], "layer 1, head 2")
    (axes,) = figure.axes
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["one", "two", "three"]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["eins", "zwei"]
    frames = [patch.get_xy() for patch in rectangles(axes)]
    assert frames == [pytest.approx((-0.46, -0.46)), pytest.approx((1.54, 0.54))]
    np.testing.assert_allclose(axes.images[0].get_array(), WEIGHTS)
    svg = as_svg(figure)
    assert "layer 1, head 2" in svg
    assert "90" in svg


def test_numbers_are_left_out_where_there_is_no_room_for_them():
    words = [f"w{n}" for n in range(FEW + 1)]
    axes = alignment_heatmap(words, ["a"], np.full((1, FEW + 1), 0.1)).axes[0]
    assert len(axes.texts) == 0


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (0, 3)])
def test_weights_must_fit_the_words(shape):
    with pytest.raises(BadData, match=r"expected weights \[target source\]"):
        alignment_heatmap(["a", "b", "c"], ["x", "y"], np.zeros(shape))


def test_too_many_words_are_refused():
    words = ["w"] * (MOST + 1)
    with pytest.raises(BadData, match=f"of 1 to {MOST} words"):
        alignment_heatmap(words, ["x"], np.zeros((1, MOST + 1)))
