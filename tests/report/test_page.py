import dataclasses
import re
import subprocess
import sys
import textwrap
from html.parser import HTMLParser

import pandas as pd
import pytest

from whence.core.errors import BadData
from whence.figures.intervals import intervals
from whence.figures.style import as_svg
from whence.figures.tokens.text import as_svg as tokens_svg
from whence.figures.violins import violins
from whence.report.page import build, write
from whence.report.page_model import AuditPage, Part, Table
from whence.results.errors import CannotSave
from whence.results.verdict import QUESTIONS, Effect, Verdict

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
VOID = {"meta", "br", "img", "link", "input", "hr"}


class Reader(HTMLParser):
    """Checks that tags are balanced, and keeps tags, attributes and text."""

    def __init__(self, html):
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.text = ""
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *attribute) for attribute in attrs]
        self.open += [tag] * (tag not in VOID)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *attribute) for attribute in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def verdict(question=1, words="Predictions hardly move."):
    effect = Effect("lost", words, -1.2, -2.0, -0.4, "points of accuracy", 2.0, 400, 5)
    return Verdict(question, "no", words, (effect,), words, words, words)


def page(words="plain", figures=None, questions=(1, 3), parts=1):
    part = Part(
        name=words,
        about=words,
        verdicts={number: verdict(number, words) for number in questions},
        figures=figures or {},
        tables={
            1: [
                Table(
                    words, (words, "n", "share", "right"), [(words, 3, 0.91234, True), (None, 4, float("nan"), False)]
                )
            ]
        },
        notes=[words],
        results=[{"experiment": words, words: {words: [words]}, "columns": {words: words}, "row": words}],
        how={5: words},
    )
    return AuditPage(words, [part] * parts, command=words, made=words)


def picture(words="lost"):
    return as_svg(intervals([Effect("lost", words, 1.0, 0.0, 2.0, "points", 1.0, 9)]))


def test_the_page_tells_verdict_effect_and_limits():
    seen = Reader(build(page()))
    assert "−1.2 points of accuracy, 95 % interval −2.0 to −0.4; the smallest effect of interest was 2.0" in seen.text
    assert "Not asked: questions 2, 4, 5 and 6." in seen.text
    assert seen.text.count("Not asked in this audit.") == 4
    for question in QUESTIONS.values():
        assert seen.text.count(question) == 2
    for heading in ("What was done", "What it means", "What it does not mean"):
        assert seen.text.count(heading) == 2
    assert [cell in seen.text for cell in ("0.912", "–", "yes", "no")] == [True] * 4


def test_every_users_string_is_escaped():
    seen = Reader(build(page(EVIL, figures={1: [(EVIL, picture(EVIL)), (EVIL, tokens_svg([EVIL], {EVIL: [0.5]}))]})))
    assert "script" not in seen.tags
    assert "img" not in seen.tags
    assert not [name for _, name, _ in seen.attributes if name.startswith("on")]
    assert seen.text.count(EVIL) > 15


def test_characters_that_xml_or_utf8_cannot_hold_do_no_harm():
    odd = "\x00\x1b\ud800_odd"
    data = pd.DataFrame({"w": [0.1, 0.2] * 8, "t": [0.1, 0.3] * 8, "label": ["\x1b_a", "_b"] * 8})
    violin = as_svg(violins(data, "w", "t", "label", x_label=odd))
    html = build(page(odd, figures={1: [(odd, picture(odd)), (odd, tokens_svg([odd], {odd: [0.5]})), (odd, violin)]}))
    html.encode()
    assert ">_b</text>" in html
    assert "‹U+001B›" in html


def test_the_page_stands_alone():
    html = build(page(figures={1: [("Lost", picture())]}))
    seen = Reader(html)
    links = [value for _, name, value in seen.attributes if name in ("src", "href", "xlink:href", "action", "srcset")]
    assert links
    assert all(link.startswith("#") for link in links)
    assert not {"link", "script", "iframe", "img"} & set(seen.tags)
    assert "@import" not in html
    assert not re.search(r"url\((?!#)", html)


def test_links_lead_somewhere_and_ids_are_unique():
    """The same figure twice, in two parts."""
    seen = Reader(build(page(figures={1: [("Lost", picture()), ("Again", picture())]}, parts=2)))
    ids = [value for _, name, value in seen.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    wanted = {value[1:] for _, name, value in seen.attributes if name in ("href", "xlink:href")}
    assert wanted <= set(ids)


def test_it_can_be_read_aloud_and_on_a_phone():
    html = build(page(figures={1: [("How far it moves", picture())]}))
    seen = Reader(html)
    assert ("html", "lang", "en") in seen.attributes
    assert ("div", "aria-label", "How far it moves") in seen.attributes
    assert ("meta", "content", "width=device-width, initial-scale=1") in seen.attributes
    assert [tag for tag in seen.tags if re.fullmatch("h[1-6]", tag)][:2] == ["h1", "h2"]
    for query in ("prefers-color-scheme: dark", "@media print"):
        assert query in html


def test_a_page_too_large_leaves_out_the_largest_figures():
    large = f'<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0{" L1 1" * 80_000}"/></svg>'
    small = picture()
    audit = page(figures={1: [("Large", large), ("Tiny", small)], 3: [("Large", large)]})
    whole = build(audit)
    assert "was left out" not in whole
    for largest, notes in ((len(whole.encode()) - 1, 1), (len(whole.encode()) - len(large) - 1, 2)):
        cut = build(audit, largest=largest)
        assert len(cut.encode()) <= largest
        assert cut.count("This figure was left out") == notes
        assert 'aria-label="Tiny"' in cut
    assert len(build(page(figures={1: [("Large", large)] * 40})).encode()) <= 5_000_000


def test_long_tables_and_manifests_are_cut():
    audit = page()
    table = Table("Long", ("n",), [(number,) for number in range(1000)])
    part = dataclasses.replace(audit.parts[0], tables={1: [table]}, results=[{"notes": ["x" * 100] * 10_000}])
    seen = Reader(build(AuditPage("Long", [part])))
    assert "the first 40 of 1000 rows" in seen.text
    assert "… cut here" in seen.text


@pytest.mark.parametrize(
    "svg",
    [
        "<svg><script>alert(1)</script></svg>",
        '<svg onload="alert(1)"></svg>',
        '<svg xmlns:xlink="http://www.w3.org/1999/xlink"><use xlink:href="https://example.org/x"/></svg>',
        "<svg><foreignObject/></svg>",
        '<svg><rect fill="url(https://example.org/x)"/></svg>',
        "<p>no picture</p>",
        "<svg>",
        "<!DOCTYPE svg><svg/>",
    ],
)
def test_a_figure_that_is_more_than_a_picture_is_refused(svg):
    with pytest.raises(BadData, match="a figure"):
        build(page(figures={1: [("Bad", svg)]}))


def test_a_page_without_parts_or_answers_can_be_built():
    Reader(build(AuditPage("Empty", [])))
    assert "No question that could decide this was asked." in Reader(build(page(questions=()))).text


def test_writing_is_whole_or_not_at_all(tmp_path, monkeypatch):
    path = write(tmp_path / "new" / "report.html", "<p>é</p>")
    assert path.read_text(encoding="utf-8") == "<p>é</p>"
    write(path, "second")
    monkeypatch.setattr(
        "pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device"))
    )
    with pytest.raises(CannotSave, match="No space left on device"):
        write(path, "third")
    assert [found.name for found in path.parent.iterdir()] == ["report.html"]
    assert path.read_text() == "second"
    with pytest.raises(CannotSave, match="choose another place"):
        write(path / "below.html", "x")


def test_saved_results_become_a_page_without_torch(tmp_path):
    script = """
        import sys
        sys.modules["torch"] = sys.modules["transformers"] = None
        import pandas as pd
        from whence.figures.intervals import intervals
        from whence.figures.style import as_svg
        from whence.figures.tokens.text import as_html
        from whence.figures.violins import violins
        from whence.report.page import build, write
        from whence.report.page_model import AuditPage, Part
        from whence.results.columns import Column, Columns
        from whence.results.result import Result, make_manifest
        from whence.results.store import Store

        columns = Columns("one row per example", w=Column(float, "weight"), t=Column(float, "moved"))
        table = columns.table({"w": [0.1, 0.6] * 10, "t": [0.2, 0.3] * 10})
        store = Store(sys.argv[1])
        store.put(Result("permutation", table, make_manifest(config={}, columns=columns)), {"seed": 0})
        (saved,) = store.all()
        figure = as_svg(violins(saved.table, "w", "t"))
        part = Part("model", "about", {}, figures={1: [("moved", figure)]}, results=[saved.manifest])
        write(sys.argv[1] + "/report.html", build(AuditPage("Audit", [part])))
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script), str(tmp_path)], check=True)
    assert "<svg" in (tmp_path / "report.html").read_text(encoding="utf-8")
