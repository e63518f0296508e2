import csv
import shutil
import subprocess
from html.parser import HTMLParser
from types import SimpleNamespace

import pandas as pd
import pytest

import whence
from whence.results.columns import Column, Columns
from whence.results.latex import latex
from whence.results.result import Result, make_manifest
from whence.results.verdict import Verdict

COLUMNS = Columns(
    "one row per example", example=Column(int, "number"), token=Column(str, "text"), score=Column(float, "s")
)
NASTY = "<script>alert('1')</script> 50% a_b \\ {x} $y$ & ~^#|"


def result(n=3):
    table = COLUMNS.table({"example": range(n), "token": [NASTY] * n, "score": [0.123456] * n})
    return Result("permutation", table, make_manifest(config={"site": "*"}, columns=COLUMNS, seed=1))


def test_it_prints_as_a_short_table():
    shown = repr(result(20))
    assert shown.startswith("permutation: 20 rows, one row per example")
    assert shown.endswith("… and 12 more")
    assert len(shown.splitlines()) == 1 + 1 + 8 + 1
    assert "more" not in repr(result(8))


def test_html_is_escaped():
    seen = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag, attrs):
            seen.append(tag)

    parser = Tags()
    parser.feed(result()._repr_html_())
    assert "script" not in seen
    assert seen.count("tr") == 4


def test_missing_values_show_as_a_dash():
    table = COLUMNS.table([{"example": 0, "token": None, "score": None}])
    assert Result("x", table, {})._repr_html_().count("<td>–</td>") == 2


def test_csv_gives_back_what_went_in(tmp_path):
    result().to_csv(tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["token"] for row in rows] == [NASTY] * 3
    assert float(rows[0]["score"]) == 0.123456


def test_every_special_character_is_escaped_for_latex():
    by_hand = r"50\% a\_b \textbackslash{} \{x\} \$y\$ \& \textasciitilde{}\textasciicircum{}\#\textbar{}"
    assert latex(r"50% a_b \ {x} $y$ & ~^#|") == by_hand


def test_latex_has_a_line_for_each_row(tmp_path):
    result().to_latex(tmp_path / "table.tex")
    lines = (tmp_path / "table.tex").read_text().splitlines()
    assert len(lines) == 3 + 6
    assert lines[2] == r"example & token & score \\"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX here")
def test_latex_accepts_it(tmp_path):
    result().to_latex(tmp_path / "table.tex")
    head = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{booktabs}"
    (tmp_path / "page.tex").write_text(head + r"\begin{document}\input{table}\end{document}")
    subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"], cwd=tmp_path, check=True)


def test_the_manifest_says_how_it_was_made():
    manifest = make_manifest(config={"k": 3}, columns=COLUMNS, seed=4, corpus={"name": "c", "n": 2}, notes=["guessed"])
    assert manifest["versions"]["whence"] == whence.__version__
    assert manifest["versions"]["pandas"] == pd.__version__
    assert manifest["columns"] == {"example": "number", "token": "text", "score": "s"}
    assert manifest["made"].endswith("+00:00")
    assert (manifest["seed"], manifest["config"], manifest["notes"]) == (4, {"k": 3}, ["guessed"])


def test_a_verdict_is_computed_once(monkeypatch):
    asked, verdict = [], object.__new__(Verdict)

    def judge(table):
        asked.append(table)
        return verdict

    fake = SimpleNamespace(verdict=judge)
    monkeypatch.setattr("whence.results.result.experiment", lambda name: fake)
    one = result()
    assert one.verdict() is one.verdict() is verdict
    assert len(asked) == 1
