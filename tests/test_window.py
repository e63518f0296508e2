"""The shop window: what `import whence` offers, that it is lazy, and that the docs need nothing else."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import whence

ROOT = Path(__file__).parent.parent
VERBS = {
    "adopt",
    "attending",
    "audit",
    "corpus",
    "explain",
    "load",
    "release",
    "reproduce",
    "run",
    "show",
    "sites",
    "train",
}
OVERRIDES = {"from_logits", "imposed", "permuted", "random", "scaled", "temperature", "uniform", "without"}
CLASSES = {"HeadProduct", "Replay", "Rollout", "Summary"}
INNER = re.compile(r"^\s*(?:from\s+whence\.|import\s+whence\.)(\w+).*$", re.MULTILINE)
PUBLIC = ("plugin_api",)  # for authors of plug-ins


def test_every_name_in_the_window_is_what_its_module_defines():
    assert set(dir(whence)) == set(whence.__all__) == VERBS | OVERRIDES | CLASSES
    assert len(whence.__all__) <= 25
    for name in whence.__all__:
        found = getattr(whence, name)
        assert callable(found), name
        assert found.__module__.startswith("whence."), name
        assert found.__doc__, name
    assert all(isinstance(getattr(whence, name), type) for name in CLASSES)


def test_an_unknown_name_is_answered_with_those_there_are():
    with pytest.raises(AttributeError, match=r"module 'whence' has no attribute 'atending'; it has: .*attending"):
        _ = whence.atending


def test_importing_whence_does_not_import_torch():
    script = "import sys, whence; assert 'torch' not in sys.modules and 'transformers' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)


def code_of(path: Path) -> str:
    """The Python that a page, notebook or script shows."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return text
    if path.suffix == ".md":
        return "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    cells = ["".join(cell["source"]) for cell in json.loads(text)["cells"]]
    return "\n".join(cells)


def test_readme_docs_and_examples_import_no_inner_module():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.ipynb"))]
    pages += [*sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.py"))]
    shown = {path: code_of(path) for path in pages}
    assert sum("import whence" in code for code in shown.values()) >= 3  # README, tutorial, example: it does look
    hits = [
        (path.name, hit.group(0))
        for path, code in shown.items()
        for hit in INNER.finditer(code)
        if hit.group(1) not in PUBLIC
    ]
    assert hits == []


def test_an_inner_import_would_be_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("from whence.core import x\n```python\nfrom whence.core.site import Site\n```\n", encoding="utf-8")
    assert [hit.group(1) for hit in INNER.finditer(code_of(page))] == ["core"]


HEAVY = (
    "torch",
    "transformers",
    "numpy",
    "pandas",
    "scipy",
    "matplotlib",
    "pydantic",
    "tyro",
    "rich",
    "jinja2",
    "captum",
)


@pytest.mark.parametrize("asked", ["import whence", "import whence.cli; whence.cli.dispatch(['--help'])"])
def test_the_package_and_its_first_help_import_nothing_that_is_slow(asked):
    """So both take well under a third of a second."""
    script = f"{asked}\nimport sys; print(*sorted(name for name in sys.modules), file=sys.stderr)"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    imported = set(said.stderr.split())
    assert "whence" in imported
    assert imported.isdisjoint(HEAVY)
