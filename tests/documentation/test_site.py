"""The site builds without a warning, offline; what its pages are made of is complete."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from whence.attribution.registry import EXPLAINERS
from whence.plugins import Registry
from whence.results.experiment import EXPERIMENTS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WITHOUT_FIGURE = {"human_evaluation"}  # needs people's answers
sys.path += [str(DOCS / "_ext"), str(ROOT / "scripts")]

gallery, plugin_pages, root_pages = map(import_module, ("gallery", "plugin_pages", "root_pages"))


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The site, built strictly; tutorials are not run here: `test_tutorials` runs them."""
    out = tmp_path_factory.mktemp("site")
    options = ["-b", "html", "-W", "--keep-going", "-q", "-D", "nb_execution_mode=off", "-d", str(out / "doctrees")]
    command = [sys.executable, "-m", "sphinx", *options, str(DOCS), str(out / "html")]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return out / "html"


def test_every_page_fetches_nothing_from_elsewhere(site):
    fetched = re.compile(r"<(?:script|img|iframe|link)\b[^>]*?(?:src|href)=\"(https?:)?//", re.IGNORECASE)
    pages = list(site.rglob("*.html"))
    assert len(pages) > 70
    assert [page.name for page in pages if fetched.search(page.read_text(encoding="utf-8"))] == []


def test_no_link_between_pages_is_broken(site):
    link = re.compile(r"<(?:a|img)\b[^>]*?(?:href|src)=\"([^\"#?:]+)(?:#([^\"]*))?\"")
    ids = {page: set(re.findall(r'\bid="([^"]+)"', page.read_text(encoding="utf-8"))) for page in site.rglob("*.html")}
    broken = []
    for page in ids:
        for target, anchor in link.findall(page.read_text(encoding="utf-8")):
            file = (page.parent / target).resolve()
            if not file.exists() or (anchor and file in ids and anchor not in ids[file]):
                broken.append((page.name, target, anchor))
    assert broken == []


def test_formulas_are_mathml(site):
    assert "<mfrac>" in (site / "concepts.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("registry", [EXPLAINERS, EXPERIMENTS], ids=["explainers", "experiments"])
def test_every_docstring_says_when_not_to_use_it(registry: Registry):
    for name in registry.built_in:
        found = registry.get(name)
        about = found.about if registry is EXPERIMENTS else sys.modules[found.__module__].__doc__
        first, _, unfit = plugin_pages.parts(about)
        assert first, name
        assert len(unfit) > 40, name
        assert plugin_pages.NOT_FOR not in unfit, name


def test_every_reference_has_its_bibtex():
    listed, entries = plugin_pages.references(DOCS), plugin_pages.bibtex(DOCS)
    assert set(listed) == set(entries)
    assert len(listed) > 90
    for name, entry in entries.items():
        assert f"year = {{{name[-4:]}}}" in entry, name
        assert all(f"  {field} = {{" in entry for field in ("author", "title")), name
        assert entry.count("{") == entry.count("}"), name
    keys = re.findall(r"^@\w+\{(\w+),$", (DOCS / "references.bib").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(keys) == len(set(keys)) == len(entries)


def test_the_gallery_has_every_explainer_and_experiment():
    codes = gallery.codes()
    assert set(codes) == {*EXPLAINERS.built_in, *EXPERIMENTS.built_in} - WITHOUT_FIGURE
    for name, (model, code) in codes.items():
        compile(code, name, "exec")
        assert not model or model in gallery.gallery()["models"]
        assert gallery.image(name).exists(), f"make gallery: {name}"


@pytest.mark.parametrize("name", sorted(gallery.gallery()["experiments"]))
def test_the_options_of_the_gallery_are_right(name):
    EXPERIMENTS.get(name).config(**gallery.gallery()["experiments"][name])


def test_a_figure_is_drawn_by_the_code_that_is_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    from support.trainings import tutorial_model

    (tmp_path / "encoder").symlink_to(tutorial_model())
    (tmp_path / "reader").symlink_to(tutorial_model())
    assert gallery.drawn(gallery.codes()["raw_attention"][1]).startswith("<svg")
    assert "<svg" in gallery.drawn(gallery.codes()["score"][1])


def test_links_are_those_of_the_site():
    docs = DOCS.resolve()
    page = ROOT / "CHANGELOG.md"
    text = "[a](docs/workbench.md) [b](src/whence/cli.py) [c](https://x.org) ![d](docs/images/report.png) [e](no.md)"
    made = root_pages.on_the_site(text, page, docs)
    assert made == "[a](/workbench.md) b [c](https://x.org) ![d](docs/images/report.png) [e](no.md)"
