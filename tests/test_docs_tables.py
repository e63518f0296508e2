"""The tables of the README are those that `make docs-tables` would write."""

import importlib.util
import re
from pathlib import Path

import pytest

from whence.attribution.registry import EXPLAINERS
from whence.cli import COMMANDS
from whence.results.experiment import EXPERIMENTS

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("docs_tables", ROOT / "scripts" / "docs_tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_readme_is_up_to_date(script):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    marks = set(re.findall(r"<!-- (\w+): begin -->", text))
    assert marks <= set(script.TABLES)
    assert script.filled(text) == text, "run `make docs-tables`"


def test_what_stands_between_marks_is_replaced_and_nothing_else(script):
    page = "a\n<!-- explainers: begin -->\nold\n<!-- explainers: end -->\nb\n"
    made = script.filled(page)
    assert made == script.filled(made)
    assert made.startswith("a\n<!-- explainers: begin -->\n| explainer | score of a token |\n")
    assert made.endswith("|\n<!-- explainers: end -->\nb\n")
    assert "old" not in made
    assert script.filled("no marks\n") == "no marks\n"


@pytest.mark.parametrize("registry", [EXPLAINERS, EXPERIMENTS], ids=["explainers", "experiments"])
def test_every_first_line_fits_a_table(registry):
    for name in registry.built_in:
        line = registry.about(name)
        assert 10 < len(line) <= 117, name
        assert line.rstrip("`").endswith((".", "?")), name


def test_every_command_has_its_usage(script):
    assert set(script.USAGE) == set(COMMANDS)
    assert script.commands().count("\n") == len(COMMANDS) + 1
