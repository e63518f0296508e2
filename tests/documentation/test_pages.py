"""The pages say what works: their Python runs, their commands parse, their links lead somewhere."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
import tyro

from support import saved_models
from whence.cli import dispatch

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN = sorted([*(DOCS / "how-to").glob("*.md"), DOCS / "faq.md", DOCS / "start.md"])
WRITTEN = [page for page in sorted(DOCS.glob("*.md")) if page.name != "gallery.md"]  # that one is made
READ = [ROOT / "README.md", *WRITTEN, *sorted((DOCS / "how-to").glob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return [code for kind, code in BLOCK.findall(page.read_text(encoding="utf-8")) if kind == language]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the models and tables that the pages speak of."""
    models = {"my-bert": saved_models.bert(20), "my-nli": saved_models.bert(20), "my-tagger": saved_models.tagger()}
    models |= {"my-bart": saved_models.translator(), "my-gpt2": saved_models.speaker()}
    for name, path in models.items():
        (tmp_path / name).symlink_to(path)
    shutil.copy(saved_models.labelled(), tmp_path / "reviews.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", [page for page in RUN if blocks(page, "python")], ids=lambda path: path.stem)
def test_the_python_of_a_page_runs(page, folder, capsys):
    names: dict[str, object] = {"__name__": "page"}
    for number, code in enumerate(blocks(page, "python")):
        exec(compile(code, f"{page.name}, block {number}", "exec"), names)


class Parsed(Exception):
    """The options of a command were understood; what it would do is not done."""


def commands(page: Path) -> list[list[str]]:
    """The commands of Whence on a page, as words; those with a placeholder in capitals are left out."""
    lines = [line for code in blocks(page, "bash") for line in code.replace("\\\n", " ").splitlines()]
    asked = [line.partition(" > ")[0] for line in lines if re.match(r"whence\s", line)]
    found = [shlex.split(line.replace("$SLURM_ARRAY_TASK_ID", "3"), comments=True) for line in asked]
    return [words[1:] for words in found if not any(re.fullmatch(r"[A-Z]{3,}", word) for word in words)]


@pytest.mark.parametrize("page", [page for page in READ if commands(page)], ids=lambda path: path.stem)
def test_the_commands_of_a_page_are_understood(page, folder, monkeypatch):
    understood = tyro.cli

    def only_parsed(*arguments, **options):
        raise Parsed(understood(*arguments, **options))

    monkeypatch.setattr(tyro, "cli", only_parsed)
    for words in commands(page):
        try:
            dispatch(words)
        except Parsed:
            continue
        pytest.fail(f"{' '.join(words)} was not parsed")


LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)\s#]+)")
MADE = ("explainers/", "experiments/", "gallery.md")


@pytest.mark.parametrize("page", [*READ, *sorted((DOCS / "tutorials").glob("*.md"))], ids=lambda path: path.stem)
def test_every_link_leads_to_a_file(page):
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for target in LINK.findall(text):
        path = (page.parent / target).resolve()
        made = path.is_relative_to(DOCS) and path.relative_to(DOCS).as_posix().startswith(MADE)
        assert made or path.exists(), f"{page.name} links to {target}"
