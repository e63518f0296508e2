"""The tutorials run as they stand, cell by cell, in a folder of their own."""

import re
from pathlib import Path

import matplotlib
import pytest

DOCS = Path(__file__).parents[2] / "docs"
TUTORIALS = sorted(path for path in (DOCS / "tutorials").glob("*.md") if path.stem != "index")
CELL = re.compile(r"^```\{code-cell\} python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(source: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """The names that are defined after all cells have run."""
    monkeypatch.chdir(folder)
    matplotlib.use("agg")
    names: dict[str, object] = {"__name__": "__main__"}
    for number, cell in enumerate(CELL.findall(source)):
        exec(compile(cell, f"cell {number}", "exec"), names)
    return names


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_runs(page, tmp_path, monkeypatch, capsys):
    source = page.read_text(encoding="utf-8")
    assert "file_format: mystnb" in source
    assert len(CELL.findall(source)) == source.count("```{code-cell}") >= 2
    names = run(source, tmp_path, monkeypatch)
    assert "whence" in names


def test_there_are_the_six():
    assert {path.stem for path in TUTORIALS} == {"audit", "debate", "decoder", "lat", "syntax", "shortcut"}


def test_a_cell_that_fails_would_be_noticed(tmp_path, monkeypatch):
    with pytest.raises(ZeroDivisionError):
        run("```{code-cell} python\n1 / 0\n```\n", tmp_path, monkeypatch)
