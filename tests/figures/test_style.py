import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import matplotlib
import pandas as pd

from whence.figures import style
from whence.figures.style import as_svg, save, with_ids
from whence.figures.violins import violins


def figure(label="$x_1$ <script>alert(1)</script> & 电影"):
    data = pd.DataFrame(
        {"w": [0.1] * 20 + [0.9] * 4, "t": [number / 24 for number in range(24)], "label": ["a", label] * 12}
    )
    return violins(data, "w", "t", "label")


def test_three_files_the_same_bytes_each_time(tmp_path, monkeypatch):
    monkeypatch.setitem(style._HOUSE, "pdf.fonttype", 42)
    first, second = save(figure(), tmp_path / "one.of"), save(figure(), tmp_path / "two")
    assert [path.name for path in first] == ["one.of.svg", "one.of.pdf", "one.of.png"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert b"/CIDFontType2" in first[1].read_bytes(), "letters of a PDF can be searched and copied"


def test_a_figure_that_was_saved_is_laid_out_anew_when_it_is_changed(tmp_path):
    made = figure()
    engine = made.get_layout_engine()
    save(made, tmp_path / "one", ["svg", "png"])
    assert made.get_layout_engine() is engine
    made.axes[0].set_ylabel("a long label\n" * 4)
    before = made.axes[0].get_position().x0
    save(made, tmp_path / "two", ["svg"])
    assert made.axes[0].get_position().x0 > before + 0.05


def test_drawing_changes_no_setting_of_others():
    before = dict(matplotlib.rcParams)
    as_svg(figure())
    assert dict(matplotlib.rcParams) == before


def test_pyplot_is_not_needed():
    script = (
        "import sys, whence.figures.violins, whence.figures.intervals; assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_svg_is_an_element_with_the_labels_as_they_are():
    svg = as_svg(figure())
    assert svg.startswith("<svg")
    words = "".join(ElementTree.fromstring(svg).itertext())
    assert "$x_1$ <script>alert(1)</script> & 电影" in words
    assert "<script" not in svg
    assert "<style" not in svg
    assert svg == as_svg(figure())


def test_ids_of_two_figures_differ_and_every_reference_is_met():
    one, two = as_svg(figure()), as_svg(figure("b"))
    ids = [set(re.findall(r'\sid="([^"]+)"', svg)) for svg in (one, two)]
    assert ids[0]
    assert not ids[0] & ids[1]
    assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', one)) <= ids[0]


def test_text_that_looks_like_an_id_is_left_alone():
    assert with_ids('<g id="a"><text> id="a" url(#a)</text></g>', "p") == '<g id="p-a"><text> id="a" url(#a)</text></g>'
