"""Corpora of other packages: by an entry point, and as `module:object`."""

import json
import sys
from importlib import invalidate_caches, metadata
from pathlib import Path

import pytest

from support.command import whence
from whence import plugins
from whence.core.errors import BadConfig, BadData
from whence.data import registry
from whence.data.entry import Entry
from whence.data.registry import find, load
from whence.plugins import names_an_object

CODE = """
from whence.data.entry import Entry
from whence.data.examples import Corpus, Example

def read(seed=0, loud=False):
    words = ("very", "good") if loud else ("good",)
    rows = (Example(" ".join(words), "yes", words=words), Example("bad", "no", words=("bad",)))
    return Corpus("shouts", {"train": rows, "test": rows}, ("no", "yes"), "two words")

ENTRY = Entry("shouts", "two words, shouted or not", "none", "synthetic", read, variants={"loud": {"loud": True}})
NUMBER = 3
"""


@pytest.fixture
def module(tmp_path, monkeypatch) -> str:
    """A script in the current folder; its name differs from test to test, since Python keeps modules."""
    name = f"plugin_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(CODE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return name


@pytest.fixture
def installed(module, tmp_path, monkeypatch) -> str:
    """The same as a package with an entry point, found as pip's are."""
    info = Path(tmp_path) / "shouting-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: shouting\nVersion: 1.0\n", encoding="utf-8")
    points = f"[whence.corpora]\nshouts = {module}:ENTRY\nreviews = {module}:ENTRY\nodd = {module}:NUMBER\n"
    (info / "entry_points.txt").write_text(points, encoding="utf-8")
    sys.path.insert(0, str(tmp_path))
    invalidate_caches()
    found = {point.name: point for point in metadata.entry_points(group="whence.corpora")}
    assert found.keys() == {"shouts", "reviews", "odd"}
    fresh: plugins.Registry[Entry] = plugins.Registry(
        registry.CORPORA.kind,
        registry.CORPORA.package,
        registry.CORPORA.attribute,
        registry.CORPORA.is_valid,
        registry.CORPORA.expected,
        plural="corpora",
        other_packages=registry.CORPORA.other_packages,
    )
    monkeypatch.setattr(registry, "CORPORA", fresh)
    monkeypatch.setattr(registry, "names", fresh.names)
    return module


def test_a_script_names_its_own_corpus_with_or_without_a_variant(module):
    assert load(f"{module}:ENTRY")["test"][0].text == "good"
    assert load(f"{module}:ENTRY:loud")["test"][0].text == "very good"
    assert load(f"{module}:ENTRY", loud=True).checksum == load(f"{module}:ENTRY:loud").checksum
    planted = load(f"{module}:ENTRY:loud+zz=yes")
    assert planted.name == "shouts+zz=yes"
    assert any("zz" in example.text for example in planted["test"])
    assert find(f"{module}:ENTRY").about == "two words, shouted or not"


def test_what_a_script_does_not_have_is_said(module):
    with pytest.raises(BadData, match="no variant shouts:soft; choose from: shouts:loud"):
        load(f"{module}:ENTRY:soft")
    with pytest.raises(BadConfig, match=r"expected an Entry of whence\.data\.entry, got int"):
        load(f"{module}:NUMBER")
    with pytest.raises(BadConfig, match=r"no corpus .*has no attribute 'GONE'"):
        load(f"{module}:GONE")
    with pytest.raises(BadData, match=r"there is no corpus 'nowhere:ENTRY'.* or module:object"):
        load("nowhere:ENTRY")


def test_known_names_and_files_come_before_modules(module, tmp_path, monkeypatch):
    (tmp_path / "stories.py").write_text("words = 1", encoding="utf-8")
    assert load("stories:words", sizes={"test": 6}).name == "stories:words"
    (tmp_path / f"{module}:ENTRY").write_text("text,label\na,x\n", encoding="utf-8")
    assert registry.resolve(f"{module}:ENTRY") is None
    assert registry.resolve("hub:imdb") is None


@pytest.mark.parametrize("name", ["reviews", "a b:c", ":x", "json:", "C:/data.csv", "no.such.module:x", "1x:y"])
def test_other_names_are_no_objects(name):
    assert not names_an_object(name)


def test_a_package_adds_a_corpus_by_an_entry_point(installed):
    assert registry.names()[-2:] == ("odd", "shouts")
    assert load("shouts:loud")["train"][0].text == "very good"
    assert load("reviews", sizes={"test": 2}).name == "reviews", "no package replaces a built-in corpus"
    with pytest.raises(BadConfig, match="odd is not a valid corpus: expected an Entry"):
        load("odd")
    with pytest.raises(BadData, match=r"Did you mean shouts or sst"):
        load("shout")


def test_commands_show_the_corpora_of_other_packages(installed, capsys):
    assert "broken    (cannot be used: odd is not a valid corpus" in whence(capsys, "data", "list").out
    assert json.loads(whence(capsys, "list", "--json").out)["corpora"]["shouts"] == "two words, shouted or not"
    assert "shouts          synthetic two words" in whence(capsys, "data", "list").out
    shown = whence(capsys, "data", "show", "shouts:loud")
    assert "test   2 examples (1 no, 1 yes)" in shown.out


def test_a_broken_package_is_named(installed, tmp_path):
    (tmp_path / f"{installed}.py").write_text("import gone_for_good", encoding="utf-8")
    sys.modules.pop(installed, None)
    says = (
        r"the corpus shouts of the package shouting cannot be loaded from .*gone_for_good.*fix or uninstall the package"
    )
    with pytest.raises(BadConfig, match=says):
        load("shouts")
