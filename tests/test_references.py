"""Every paper that the code or a study cites is on the references page."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
CITED = re.compile(r"([A-ZÀ-Ž][\w-]+(?: et al\.| & [A-ZÀ-Ž][\w-]+))(?:'s)?,? \(?((?:19|20)\d\d)\b")


def test_every_cited_paper_is_on_the_references_page():
    page = (ROOT / "docs" / "references.md").read_text(encoding="utf-8")
    listed = {f"{name} {year}" for name, year in CITED.findall(page)}
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py"), *(ROOT / "studies").glob("*.toml")]
    cited: dict[str, str] = {}
    for file in files:
        text = re.sub(r"\s+", " ", file.read_text(encoding="utf-8"))
        cited |= {f"{name} {year}": file.name for name, year in CITED.findall(text)}
    assert len(cited) > 50
    assert {name: file for name, file in cited.items() if name not in listed} == {}


def test_references_are_in_alphabetical_order():
    page = (ROOT / "docs" / "references.md").read_text(encoding="utf-8")
    names = re.findall(r"^- \*\*(.+?)\*\*", page, re.MULTILINE)
    assert names == sorted(names, key=str.lower)
    assert len(names) > 60
