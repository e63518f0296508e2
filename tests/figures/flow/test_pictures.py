import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest

from support.flows import by_hand, large, made
from support.html import NASTY, Reader
from whence.figures.flow.captions import HOW_TO_READ
from whence.figures.flow.html import as_frame, as_html
from whence.figures.flow.layout import layout
from whence.figures.flow.pdf import as_figure, save_pdf
from whence.figures.flow.svg import as_svg, inks

SVG = "{http://www.w3.org/2000/svg}"


def test_svg_by_hand():
    tree, places = ElementTree.fromstring(as_svg(by_hand(), "authors")), layout(by_hand())
    left, right = places.x[0]
    paths = {path.get("stroke-opacity"): path.get("d") for path in tree.iter(f"{SVG}path")}
    assert paths["0.48"] == f"M{right:.1f} {places.y[2]:.1f}L{right:.1f} {places.y[1]:.1f}"  # .8 · .6
    assert paths["0.12"] == f"M{right:.1f} {places.y[2]:.1f}L{left:.1f} {places.y[1]:.1f}"  # .2 · .6
    words = [text.text for text in tree.iter(f"{SVG}text")]
    for shown in ("layer 1", "layer 2", "input", "answer", "head 1", "tokens"):
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
        "Tokens with most attention: so (score 0.56, most of it by head 1), dull (score 0.44, most of it by head 1)."
    )


def test_every_token_is_text_and_none_is_run():
    flow = made(NASTY, 2, 2)
    tree = ElementTree.fromstring(as_svg(flow))
    assert {element.tag.removeprefix(SVG) for element in tree.iter()} == {
        "svg", "title", "desc", "rect", "g", "path", "circle", "text",
    }  # fmt: skip
    titles = " ".join(title.text for title in tree.iter(f"{SVG}title"))
    assert "<script>alert(1)</script>: " in titles
    assert "‹U+202E›evil" in titles
    page = as_html(flow)
    assert page.count("<script") == 2
    assert page.count("</script") == 2
    assert page.encode()  # half a surrogate pair could not be saved


def test_a_page_fetches_nothing():
    page = as_html(by_hand(answer="<b>good</b>"))
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
    for shown in ("so", "$x$", "head 2", "layer 2", "input", "answer"):
        assert shown in written
    assert len(figure.axes[0].collections) == 2  # fans, and lines within heads


@pytest.mark.parametrize("answer", ["", "positive " * 40])
def test_the_heading_fits(answer):
    svg = ElementTree.fromstring(as_svg(by_hand(answer=answer)))
    heading = next(text for text in svg.iter(f"{SVG}text") if text.get("font-weight") == "bold").text
    assert heading.startswith("Flow of attention through 2 layers of 1 head")
    assert len(heading) * 7.7 < float(svg.get("width"))
