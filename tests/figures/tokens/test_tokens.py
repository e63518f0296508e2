import math
import re
import xml.etree.ElementTree as ElementTree

import pytest

from support.html import NASTY, Reader
from whence.core.errors import BadData
from whence.figures.token_shading import blend, lines, visible
from whence.figures.tokens.pdf import save_pdf
from whence.figures.tokens.text import as_html, as_latex, as_svg, as_text

SCORES = {"lat": [0.1 * number for number in range(10)], "<b>grad": [math.nan, *(-0.1 * number for number in range(9))]}


def test_html_shows_every_token_and_runs_none():
    seen = Reader(as_html(NASTY, SCORES, caption="<script>"))
    assert set(seen.tags) == {"table", "caption", "tbody", "tr", "th", "td", "bdi", "br", "small"}
    assert seen.tags.count("bdi") == 20
    for shown in (
        "<script>alert(1)</script>",
        "50%",
        "a_b",
        "\\",
        "שלום",
        "‹U+202E›evil",
        "zero‹U+200B›width",
        "<b>grad",
    ):
        assert shown in seen.text


def test_svg_can_be_read_and_holds_only_pictures():
    tree = ElementTree.fromstring(as_svg(NASTY, SCORES))
    assert {element.tag.rpartition("}")[2] for element in tree.iter()} == {"svg", "rect", "text", "g", "title"}
    assert "<script>alert(1)</script>" in "".join(tree.itertext())


def test_svg_stays_within_its_width():
    tree = ElementTree.fromstring(as_svg(["x" * 300, *["word"] * 50], [0.1] * 51, width=300))
    for box in tree.iter("{http://www.w3.org/2000/svg}rect"):
        assert float(box.get("x", 0)) + float(box.get("width")) <= 300


def test_latex_is_escaped():
    text = as_latex(NASTY, SCORES)
    for shown in (
        r"\textless{}script\textgreater{}",
        r"50\%",
        r"a\_b",
        r"\strut \textbackslash{}}",
        r"\guilsinglleft{}U+200B",
    ):
        assert shown in text
    assert not re.search(r"(?<!\\)%", text)


def test_a_terminal_gets_no_escape_codes_but_ours():
    coloured = as_text(NASTY, SCORES)
    assert set(re.findall(r"\x1b\[[\d;]*m", coloured)) <= set(
        re.findall(r"\x1b\[(?:0|38;2;0;0;0;48;2;[\d;]+)m", coloured)
    )
    assert "‹U+001B›[31mred" in coloured
    assert "\x1b" not in as_text(NASTY, SCORES, colour=False)


def test_without_colour_the_scores_are_written():
    text = as_text(["not", "bad"], {"a": [0.5, -0.25], "longer": [1.0, 0.0]}, colour=False)
    assert text.splitlines() == [
        "a       not[+0.5] bad[−0.25]",
        "        (blue for, orange against; deepest shade = ±0.5)",
        "longer  not[1] bad[0]",
        "        (deepest shade = 1)",
    ]


def test_shades_by_hand():
    (line,) = lines(["a", "b", "c"], [0.5, -0.25, math.nan])
    assert line.shades == [1.0, -0.5, 0.0]
    assert line.signed
    assert blend(1.0) == (102, 170, 209)  # 255 + 0.6 · (0 − 255), (114 − 255), (178 − 255)
    assert blend(0.0) == (255, 255, 255)


@pytest.mark.parametrize(
    ("scores", "scale"),
    [([0.0, 0.0], "all scores are zero"), ([math.nan, math.inf], "none of the scores is a number")],
)
def test_no_shade_where_there_is_no_scale(scores, scale):
    (line,) = lines(["a", "b"], scores)
    assert line.shades == [0.0, 0.0]
    assert line.scale == scale
    for show in (as_html, as_latex, as_svg, as_text):
        assert show(["a", "b"], scores)


def test_no_tokens_can_be_shown():
    for show in (as_html, as_latex, as_svg, as_text):
        assert show([], {"lat": []})


def test_a_score_for_every_token():
    with pytest.raises(BadData, match="2 tokens and 3 scores of lat"):
        as_html(["a", "b"], {"lat": [1.0, 2.0, 3.0]})


def test_what_cannot_be_seen_is_written_out():
    assert visible("a\u200db\u00a0\n\ud800é") == "a‹U+200D›b‹U+00A0›‹U+000A›‹U+D800›é"


@pytest.mark.parametrize(
    ("scores", "shades", "scale"),
    [
        ([0.2, 0.3, 0.4], [0.0, 0.5, 1.0], "no shade = 0.2, deepest shade = 0.4"),
        ([-2.0, 0.0, math.nan], [0.0, 1.0, 0.0], "no shade = −2, deepest shade = 0"),
        ([0.5, 0.5, 0.5], [0.0, 0.0, 0.0], "all scores are 0.5"),
        ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], "all scores are zero"),
        ([math.nan] * 3, [0.0] * 3, "none of the scores is a number"),
    ],
)
def test_shades_over_the_range_of_a_text(scores, shades, scale):
    (line,) = lines(["a", "b", "c"], scores, "range")
    assert line.shades == pytest.approx(shades)
    assert line.scale == scale


def test_the_pdf_shows_every_shape_of_the_svg(tmp_path, monkeypatch):
    figures = []
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda figure, *_, **__: figures.append(figure))
    tokens, scores = [f"token{number}" for number in range(30)], {"a": [0.1] * 30, "b": [-0.2] * 30}
    save_pdf(tokens, scores, tmp_path / "x.pdf", width=300)
    axes, tree = figures[0].axes[0], ElementTree.fromstring(as_svg(tokens, scores, width=300))
    svg = "{http://www.w3.org/2000/svg}"
    boxes = [(float(box.get("x")), float(box.get("y"))) for box in tree.iter(f"{svg}rect") if box.get("x")]
    assert [(round(x, 1), round(y, 1)) for x, y in (patch.get_xy() for patch in axes.patches)] == boxes
    assert len(boxes) == 60
    written = [text.text or "" for text in tree.iter(f"{svg}text")]
    assert sorted(text.get_text() for text in axes.texts) == sorted(written)
