"""Results that are kept with the pages: merged, read again, and the committed pages follow from them."""

import json
import shutil
from pathlib import Path

import pytest

from support.ablations import ablation_table
from whence.core.errors import BadData
from whence.reproducing.kept_results import FOLDER, keep_result, kept_results
from whence.reproducing.ledger import rewrite_ledger, write_ledger
from whence.reproducing.measured import FigureResult
from whence.reproducing.study import Case, FigureSpec, Run, Study
from whence.reproducing.study_files import names, read
from whence.results.result import Result

PAGE = Path(__file__).parents[2] / "docs" / "reproductions.md"
CASES = tuple(Case(name=n, system=n, data="reviews", full=Run(training={"epochs": 2})) for n in ("one", "two"))
TABLE = FigureSpec(
    name="Table 1",
    about="Numbers.",
    experiment="ablation",
    cases=("one", "two"),
    show=("runs",),
    within=2.0,
    smallest=2.0,
    levels=("accuracy",),
    quantities=("accuracy", "uniform, train+infer"),
    published={"one": (75.0, -50.0), "two": (75.0, -50.0)},
)
STUDY = Study(name="made", paper="Nobody 2000", title="A study", about="About.", case=CASES, figure=(TABLE,))


def result(case, ablated, health=None, n=800):
    table = ablation_table([[1, 1, 1, 0] * (n // 4)], [ablated * (n // 4)])
    corpus = {"name": "reviews", "split": "test", "n": n}
    manifest = {
        "corpus": corpus,
        "seconds": 60.0,
        "config": {"model": "/home/x", "draws": 2},
        "command": "whence /home/x",
    }
    record = {"training": {"epochs": 2, "vectors": "/home/x/glove.txt", "data_dir": "/home"}, "dev": [0.5]}
    return FigureResult(TABLE, case, Result("ablation", table, manifest), {**record, "health": health or {}})


def rows(page):
    lines = (page.with_suffix("") / "made.md").read_text(encoding="utf-8").splitlines()
    return [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in lines
        if line.startswith(("| one", "| two")) and "| control |" not in line
    ]


def test_what_is_run_replaces_and_the_rest_stays(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Ours\n\nBy hand.\n", encoding="utf-8")
    write_ledger(STUDY, "full", [result(CASES[0], [1, 0, 0, 0])], page)
    first = rows(page)
    assert [row[-2] for row in first] == ["reproduced", "reproduced", "not run: needs time", "not run: needs time"]
    write_ledger(STUDY, "full", [result(CASES[1], [1, 1, 1, 0])], page)
    second = rows(page)
    assert second[:2] == first[:2]
    differs = "differs (starts 0.000 higher, ends 50.000 higher)"
    assert [row[-2:] for row in second[2:]] == [["reproduced", ""], [differs, "does not hold"]]
    write_ledger(STUDY, "full", [result(CASES[0], [1, 1, 1, 0])], page)
    assert rows(page)[1][-2] == differs
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# Ours\n\nBy hand.\n")
    assert "| [A study (Nobody 2000)](page/made.md) | 2 | 0 | 0 | 2 | 0 | 0 | 0 | 0 | 0 | 2 |" in text


def test_nothing_of_a_machine_is_kept_and_a_result_is_read_as_it_was(tmp_path):
    given = result(CASES[0], [1, 0, 0, 0])
    path = keep_result(tmp_path, STUDY, "full", given)
    text = path.read_text(encoding="utf-8")
    assert "/home" not in text
    assert json.loads(text)["training"]["options"] == {"epochs": 2, "vectors": "glove.txt"}
    (found,) = kept_results(tmp_path, STUDY, "full")
    assert found.result.table.equals(given.result.table)
    assert (found.figure, found.case, found.seed) == (TABLE, CASES[0], 0)
    assert kept_results(tmp_path, STUDY, "quick") == []
    path.write_text("{", encoding="utf-8")
    with pytest.raises(BadData, match="is damaged"):
        kept_results(tmp_path, STUDY, "full")


def test_a_model_at_chance_did_not_learn_and_never_differs(tmp_path):
    page = tmp_path / "page.md"
    write_ledger(STUDY, "full", [result(CASES[0], [1, 1, 1, 0], {"learned": False})], page)
    assert [row[-2:] for row in rows(page)[:2]] == [["model did not learn", ""]] * 2


def test_what_was_run_before_tables_were_kept_stays_until_it_is_run_again(tmp_path):
    page, place = tmp_path / "page.md", tmp_path / "page" / FOLDER / "made"
    place.mkdir(parents=True)
    row = {"where": "Table 1", "system": "one", "data": "reviews", "n": 9, "seeds": 1, "low": None, "high": None}
    before = [{**row, "quantity": "accuracy", "ours": 60.0}, {**row, "quantity": "uniform, train+infer", "ours": -49.0}]
    parts = {"Table 1": {"one": "- **one**: an earlier run."}}
    (place / "earlier.json").write_text(json.dumps({"rows": before, "parts": parts, "summaries": {}}))
    rewrite_ledger([STUDY], page)
    assert [row[-2:] for row in rows(page)[:2]] == [["differs", ""], ["reproduced", "holds"]]
    assert "- **one**: an earlier run." in (tmp_path / "page/made.md").read_text()
    write_ledger(STUDY, "full", [result(CASES[0], [1, 0, 0, 0])], page)
    assert rows(page)[0][-2] == "reproduced"
    assert "an earlier run" not in (tmp_path / "page/made.md").read_text()


def test_the_committed_pages_follow_from_the_committed_results(tmp_path):
    """What `make ledger` writes: every page and table, from a copy of what is kept."""
    source, page = PAGE.with_suffix(""), tmp_path / PAGE.name
    folder = page.with_suffix("")
    shutil.copytree(source / FOLDER, folder / FOLDER)
    shutil.copy(PAGE, page)
    (folder / "figures").mkdir()
    for picture in source.glob("figures/*.svg"):
        (folder / "figures" / picture.name).touch()
    written = rewrite_ledger([read(name) for name in names()], page, draws=False)
    assert len(written) > 4
    for path in [*written, *folder.glob("*.csv")]:
        committed = PAGE.parent / path.relative_to(tmp_path)
        assert path.read_text(encoding="utf-8") == committed.read_text(encoding="utf-8"), (
            f"run make ledger: {path.name}"
        )


def test_every_picture_that_a_page_shows_is_there():
    folder = PAGE.with_suffix("")
    for page in folder.glob("*.md"):
        for link in (part.partition(")")[0] for part in page.read_text(encoding="utf-8").split("](")[1:]):
            assert link.startswith("http") or (folder / link).exists(), f"{page.name}: {link}"


def test_no_page_of_a_paper_is_longer_than_400_lines():
    lengths = {
        page.name: len(page.read_text(encoding="utf-8").splitlines()) for page in PAGE.with_suffix("").glob("*.md")
    }
    assert max(lengths.values()) <= 400, lengths
