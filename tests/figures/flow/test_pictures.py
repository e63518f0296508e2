import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba

from support.flows import by_hand, large, made
from support.html import NASTY, Reader
from whence.figures.flow.captions import HOW_TO_READ
from whence.figures.flow.drawing import draw_flow, inks
from whence.figures.flow.html import as_frame, as_html
from whence.figures.flow.layout import alpha_of, darkest_dot, layout
from whence.figures.flow.pdf import as_figure, save_pdf
from whence.figures.flow.svg import as_svg

SVG = "{http://www.w3.org/2000/svg}"


def test_svg_by_hand():
    tree, places = ElementTree.fromstring(as_svg(by_hand(), "authors")), layout(by_hand())
    left, right = places.x[0]
    paths = {path.get("stroke-opacity"): path.get("d") for path in tree.iter(f"{SVG}path")}
    assert paths["0.48"] == f"M{right:.1f} {places.y[2]:.1f}L{right:.1f} {places.y[1]:.1f}"  # .8 · .6
    assert paths["0.12"] == f"M{right:.1f} {places.y[2]:.1f}L{left:.1f} {places.y[1]:.1f}"  # .2 · .6
    words = [text.text for text in tree.iter(f"{SVG}text")]
    for shown in ("layer 0", "layer 1", "input", "prediction", "head 0", "tokens"):
        assert shown in words
    inks = {"".join(text.itertext()): text.get("fill") for text in tree.iter(f"{SVG}text")}
    assert inks["so: 0.56so"] == "#000000"  # the title, then the text
    assert inks["dull: 0.44dull"] == "#767676"  # the least score can still be read: 4.5 to 1 on white


def test_tokens_that_nothing_reaches_leave_the_others_their_greys():
    flow = made(["<s>", "so", "dull"], 1, 1)
    assert inks(replace(flow, scores=np.array([0.0, 0.5, 0.6]))) == ["#767676", "#767676", "#000000"]
    assert inks(replace(flow, scores=np.zeros(3))) == ["#000000"] * 3


def test_the_picture_says_how_to_read_it_and_what_is_left_out():
    words = " ".join("".join(text.itertext()) for text in ElementTree.fromstring(as_svg(large())).iter(f"{SVG}text"))
    assert HOW_TO_READ in words
    assert re.search(r"Of 518400 lines the \d+ strongest are drawn; they carry \d+\u00a0% of the attention", words)
    assert "All lines are drawn." in as_svg(by_hand())
    even = as_svg(made(["a"] * 60, 12, 12, sharpness=0.0))
    assert "No line is drawn" in even
    told = ElementTree.fromstring(as_svg(by_hand())).find(f"{SVG}desc").text
    assert told == (
        "Tokens with most attention: so (score 0.56, most of it by head 0), dull (score 0.44, most of it by head 0)."
    )


def test_every_token_is_text_and_none_is_run():
    flow = made(NASTY, 2, 2)
    tree = ElementTree.fromstring(as_svg(flow))
    assert {element.tag.removeprefix(SVG) for element in tree.iter()} == {
        "svg",
        "title",
        "desc",
        "rect",
        "g",
        "path",
        "text",
    }
    titles = " ".join(title.text or "" for title in tree.iter(f"{SVG}title"))
    assert "<script>alert(1)</script>: " in titles
    assert "‹U+202E›evil" in titles
    page = as_html(flow)
    assert page.count("<script") == 2
    assert page.count("</script") == 2
    assert page.encode()  # half a surrogate pair could not be saved


def test_a_page_fetches_nothing():
    page = as_html(by_hand(prediction="<b>good</b>"))
    assert not re.search(r"https?://|src=|@import|url\(|import ", page)
    assert "default-src 'none'" in page
    assert "<b>" not in page
    assert "&lt;b&gt;good" in page


def test_a_frame_holds_the_whole_page():
    frame = as_frame(made(NASTY, 2, 2))
    assert Reader(frame).tags == ["iframe"]
    assert 'sandbox="allow-scripts"' in frame
    assert by_hand()._repr_html_() == as_frame(by_hand())


def test_the_same_flow_gives_the_same_bytes(tmp_path):
    for ending in ("svg", "html", "pdf"):
        made(list("abc"), 2, 2).save(tmp_path / f"one.{ending}")
        made(list("abc"), 2, 2).save(tmp_path / f"two.{ending}")
        assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"two.{ending}").read_bytes()


def test_a_large_pdf_is_bounded(tmp_path):
    save_pdf(large(), tmp_path / "flow.pdf")
    assert (tmp_path / "flow.pdf").stat().st_size < 400_000


def test_the_figure_has_the_words_of_the_svg():
    figure = as_figure(made(["so", "dull", "$x$"], 2, 2))
    written = [text.get_text() for text in figure.axes[0].texts]
    for shown in ("so", "$x$", "head 1", "layer 1", "input", "prediction"):
        assert shown in written


@pytest.mark.parametrize("scale", ["strongest", "authors"])
@pytest.mark.parametrize("flow", [by_hand(), made(["so", "dull", "longer" * 4], 3, 4), large()], ids=["2", "3", "60"])
def test_svg_and_figure_show_every_shape_of_the_drawing(flow, scale):
    drawing = draw_flow(flow, scale)
    tree, axes = ElementTree.fromstring(as_svg(flow, scale)), as_figure(flow, scale).axes[0]
    segments = [segment for strokes in drawing.strokes for segment in strokes.segments]
    points = [point for dots in drawing.dots for point in dots.points]
    paths = "".join(path.get("d", "") for path in tree.iter(f"{SVG}path"))
    assert re.findall(r"M[^M]+L[^M]+", paths) == [f"M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}" for a, b, c, d in segments]
    assert re.findall(r"M[^M]+h0", paths) == [f"M{x:.1f} {y:.1f}h0" for x, y in points]
    (lines,) = axes.collections
    assert isinstance(lines, LineCollection)
    np.testing.assert_array_equal(np.reshape([path.vertices for path in lines.get_paths()], (-1, 4)), segments)
    np.testing.assert_array_equal(
        np.asarray(lines.get_colors())[:, 3], [s.alpha for s in drawing.strokes for _ in s.segments]
    )
    np.testing.assert_array_equal(np.concatenate([dots.get_xydata() for dots in axes.lines]), points)
    assert [to_rgba(dots.get_color())[3] for dots in axes.lines] == [dots.alpha for dots in drawing.dots]
    written = [(round(text.x, 1), round(text.y, 1), text.text) for text in drawing.texts]
    drawn = [(round(x, 1), round(y, 1), text.get_text()) for text in axes.texts for x, y in [text.get_position()]]
    assert drawn == written
    texts = [(float(text.get("x")), float(text.get("y"))) for text in tree.iter(f"{SVG}text")]
    assert texts == [(float(f"{text.x:.1f}"), float(f"{text.y:.1f}")) for text in drawing.texts]
    assert len(segments) > 3
    assert len(points) == 2 * flow.nodes.size + 1 - (alpha_steps(flow, scale) == 0).sum()


def alpha_steps(flow, scale):
    return np.rint(100 * alpha_of(flow.nodes, darkest_dot(flow, scale), scale))


@pytest.mark.parametrize("prediction", ["", "positive " * 40])
def test_the_heading_fits(prediction):
    svg = ElementTree.fromstring(as_svg(by_hand(prediction=prediction)))
    heading = next(text for text in svg.iter(f"{SVG}text") if text.get("font-weight") == "bold").text
    assert heading.startswith("Flow of attention through 2 layers of 1 head")
    assert len(heading) * 7.7 < float(svg.get("width"))
