"""`whence doctor` says what is there and what is missing, from the package's own metadata."""

import json
import tomllib
from importlib import metadata
from pathlib import Path

import numpy
import torch
import transformers

from support.command import whence
from whence.commands import doctor

ROOT = Path(__file__).parents[2]


def test_versions_and_devices_are_those_of_the_libraries(capsys):
    said = whence(capsys, "doctor", "--json")
    found = json.loads(said.out)
    assert said.code == 0
    expected = {"torch": torch.__version__, "transformers": transformers.__version__, "numpy": numpy.__version__}
    assert {name: found["versions"][name].partition("+")[0] for name in expected} == {
        name: text.partition("+")[0] for name, text in expected.items()
    }
    assert "cpu" in found["devices"]
    assert len(found["devices"]) >= 1 + torch.cuda.device_count()


def test_every_extra_says_what_it_is_for():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(doctor.WHAT_FOR) == set(extras) - {"dev"}


def test_corpora_that_are_missing_are_named(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("WHENCE_DATA", str(tmp_path / "none"))
    said = whence(capsys, "doctor")
    assert said.code == 0
    assert f"{tmp_path / 'none'} (by $WHENCE_DATA; not made yet" in said.out
    missing = next(line for line in said.out.splitlines() if line.startswith("    missing"))
    assert {"sst", "snli"} <= set(missing.removeprefix("    missing").replace(",", " ").split())
    assert said.out.rstrip().endswith("Whence can work.")


def test_what_is_missing_is_said_with_how_to_get_it(capsys, monkeypatch):
    needed = ["no-such-package-x>=3", 'numpy>=99; extra == "serve"', 'whence[serve]; extra == "dev"', "numpy>=1"]
    monkeypatch.setattr(doctor, "requires", lambda _: needed)
    said = whence(capsys, "doctor")
    assert said.code == 1
    assert "missing: no-such-package-x>=3 (for everything)" in said.out
    there = metadata.version("numpy")
    assert f"missing: numpy>=99 (is {there}); pip install 'whence[serve]' (for `whence serve`" in said.out
    assert said.out.rstrip().endswith("Whence cannot work: install no-such-package-x>=3")
