"""The project's own files agree with each other."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

import whence

ROOT = Path(__file__).parent.parent


def test_there_is_one_source_of_the_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" not in project["project"]
    assert project["project"]["dynamic"] == ["version"]
    source = (ROOT / project["tool"]["hatch"]["version"]["path"]).read_text()
    assert re.findall(r'^__version__ = "(.+)"$', source, flags=re.MULTILINE) == [whence.__version__]


def test_the_citation_is_complete_and_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()  # those that CFF 1.2.0 requires
    assert citation["cff-version"] == "1.2.0"
    assert citation["version"] == whence.__version__
    assert citation["license"] == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["license"]


def test_hooks_run_the_project_s_own_tools():
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert repository["repo"] == "local"
    used = {hook["entry"].split()[0].removeprefix(".venv/bin/") for hook in repository["hooks"]}
    linted = re.search(r"^lint:.*?\n\n", (ROOT / "Makefile").read_text(), flags=re.DOTALL | re.MULTILINE)
    assert linted
    assert used == set(re.findall(r"\$\(BIN\)/([\w-]+)", linted[0]))


@pytest.mark.parametrize(
    "target", ["setup", "lint", "test", "test-all", "docs-tables", "docs", "gallery", "canary", "demo"]
)
def test_make_lists_its_targets(target):
    listed = subprocess.run(["make", "-s", "-C", ROOT, "help"], capture_output=True, text=True, check=True).stdout
    assert re.search(rf"^  make {target} +\w", listed, flags=re.MULTILINE)


@pytest.mark.parametrize("room", ["src", "tests", "benchmarks", "examples", "scripts"])
def test_files_and_folders_fit_a_screen(room):
    folders = [path for path in (ROOT / room).rglob("*") if path.is_dir() and "__pycache__" not in path.parts]
    for folder in [ROOT / room, *folders]:
        files = [path for path in folder.iterdir() if path.is_file()]
        assert len(files) <= 25, f"{folder.relative_to(ROOT)} has {len(files)} files"
        long = [path.name for path in files if path.suffix == ".py" and len(path.read_text().splitlines()) >= 300]
        assert not long, f"{folder.relative_to(ROOT)}: {long} have 300 lines or more"


def test_the_canary_runs_by_its_make_target():
    (job,) = yaml.safe_load((ROOT / ".github" / "workflows" / "canary.yml").read_text())["jobs"].values()
    assert "make canary" in [step.get("run") for step in job["steps"]]
