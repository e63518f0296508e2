from itertools import pairwise

import numpy as np
import pytest

from support.flows import by_hand, large, made
from whence.figures.flow.layout import LEFT, LONGEST, TOP, alpha_of, bound, darkest_dot, layout, lines
from whence.figures.flow.svg import as_svg
from whence.figures.tokens.drawing import SIZE, width_of


def test_places_by_hand():
    places = layout(by_hand())  # one column of 640 pixels; two dots, no farther apart than 48
    middle = LEFT + 320
    assert places.x.tolist() == [[middle - 24, middle + 24]]
    assert places.y.tolist() == [TOP + 70 + 120, TOP + 70 + 60, TOP + 70]  # the input is lowest
    assert [label.x for label in places.labels] == [LEFT + 160, LEFT + 480]
    assert not places.upright


@pytest.mark.parametrize(("size", "depth", "heads"), [(1, 1, 1), (10, 6, 8), (24, 6, 8), (60, 12, 12), (128, 2, 4)])
def test_nothing_overlaps_and_nothing_leaves_the_picture(size, depth, heads):
    places = layout(made([f"word{'y' * (number % 30)}" for number in range(size)], depth, heads))
    assert (np.diff(places.x.ravel()) > 1.8).all()  # dots of a row, and columns, from left to right
    if size > 1 and heads > 1:
        pitch = places.x[0, 1] - places.x[0, 0]
        assert (places.x[1:, 0] - places.x[:-1, -1] >= 1.75 * pitch).all()
    assert places.x.min() >= LEFT
    assert places.x.max() <= places.width
    wide = [SIZE if places.upright else width_of(label.text) for label in places.labels]
    ends = [(label.x - one / 2, label.x + one / 2) for label, one in zip(places.labels, wide, strict=True)]
    assert all(left[1] < right[0] for left, right in pairwise(ends))
    deep = max(width_of(label.text) for label in places.labels) if places.upright else SIZE
    assert places.text_top + deep <= places.height


def test_long_tokens_are_cut_and_known_in_full():
    (label, _) = layout(by_hand(tokens=("antidisestablishmentarianism", "\u202eevil"))).labels
    assert label.text == "antidisestablis…"
    assert len(label.text) == LONGEST
    assert label.whole == "antidisestablishmentarianism"
    assert layout(by_hand(tokens=("a", "\u202eevil"))).labels[1].whole == "‹U+202E›evil"


def test_darkness_as_in_the_authors_code():
    drawn = lines(by_hand(), "authors")
    by_line = {tuple(at): alpha for at, alpha in zip(drawn.at.tolist(), drawn.alpha, strict=True)}
    assert by_line[1, 0, 1, 1] == pytest.approx(0.8 * 0.6 * 0.997 + 0.003)
    assert by_line[0, 0, 0, 0] == pytest.approx(0.9 * 0.32 * 0.997 + 0.003)
    assert (0, 0, 0, 1) not in by_line  # .1 · .32 · .997 + .003 = .035 cannot be seen
    assert drawn.left_out == 1
    assert drawn.carried == pytest.approx((2 - 0.032) / 2)
    assert darkest_dot(by_hand(), "authors") == 1


def test_darkness_by_the_strongest():
    drawn = lines(by_hand())
    assert drawn.darkest == pytest.approx(0.48)
    assert drawn.left_out == 0
    by_line = {tuple(at): alpha for at, alpha in zip(drawn.at.tolist(), drawn.alpha, strict=True)}
    assert by_line[1, 0, 1, 1] == pytest.approx(1.0)
    assert by_line[0, 0, 0, 1] == pytest.approx(0.997 * (0.032 / 0.48) ** (2 / 3) + 0.003)
    assert list(drawn.alpha) == sorted(drawn.alpha)
    assert darkest_dot(by_hand(), "strongest") == pytest.approx(0.68)


def test_which_lines_are_drawn_by_a_slow_loop():
    flow = made(list("abcdef"), 3, 2)
    for most in (6000, 40, 0):
        drawn = lines(flow, most=most)
        ranked = sorted(flow.amounts.ravel().tolist(), reverse=True)
        seen = [one for one in ranked if 0.997 * (one / max(ranked[0], 0.25)) ** (2 / 3) + 0.003 >= 0.05][:most]
        assert sorted(flow.amounts[tuple(drawn.at.T)].tolist(), reverse=True) == seen
        assert drawn.left_out == flow.amounts.size - len(seen)


def test_attention_spread_evenly_is_pale_and_no_line_is_drawn_for_another():
    even = made(["a"] * 60, 12, 12, sharpness=0.0)
    assert len(lines(even).alpha) == 0
    few = lines(made(["a"] * 5, 2, 2, sharpness=0.0))
    assert few.alpha == pytest.approx(0.997 * (0.04 / 0.25) ** (2 / 3) + 0.003)
    assert lines(made(["a"] * 5, 2, 2, sharpness=0.0), most=99).left_out == 100  # all are equal: none has room


def test_the_bound_leaves_no_more_than_asked():
    amounts = np.array([3.0, 1.0, 2.0, 2.0])
    assert [int((amounts >= bound(amounts, most)).sum()) for most in (0, 1, 2, 3, 4)] == [0, 1, 1, 3, 4]


def test_no_more_than_the_darkest():
    assert alpha_of(np.array([0.0, 1.0, 8.0]), 1.0, "authors").tolist() == pytest.approx([0.003, 1.0, 1.0])


def test_a_large_picture_is_bounded():
    drawn = lines(large())
    assert 1000 < len(drawn.alpha) <= 6000
    assert len(as_svg(large())) < 600_000
