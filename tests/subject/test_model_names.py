"""A path at which there is nothing is refused at once; a name of the hub is not taken for a path."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.torchless import WITHOUT_TORCH
from whence.core.errors import CannotLoad
from whence.subject.model_names import is_path, refuse_missing_folder


def test_paths_and_hub_names(tmp_path, monkeypatch):
    (tmp_path / "models").mkdir()
    monkeypatch.chdir(tmp_path)
    paths = ("./bert", "../bert", "/tmp/bert", "~/bert", "models/bert", "a/b/c", "bert/", Path("bert"), Path("a/b"))
    assert [is_path(name) for name in paths] == [True] * len(paths)
    assert [is_path(name) for name in ("bert", "bert-base-uncased", "google/bert", "whence-model")] == [False] * 4


def test_a_path_without_a_folder_names_the_nearest_that_there_is(tmp_path):
    refuse_missing_folder(tmp_path)
    refuse_missing_folder("google/bert")
    with pytest.raises(CannotLoad, match=f"there is no folder {tmp_path}/runs/one \\(there is {tmp_path}\\)"):
        refuse_missing_folder(f"{tmp_path}/runs/one")


@pytest.mark.parametrize(
    "command",
    [
        ("explain", "./none", "a text"),
        ("audit", "./none", "reviews"),
        ("run", "permutation", "--model", "./none", "--data", "reviews"),
        ("train", "./none", "--data", "reviews"),
    ],
)
def test_every_command_refuses_it_before_torch_is_imported(command):
    asked = f"{WITHOUT_TORCH}\nmain({list(command)})"
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=False)
    assert said.returncode == 2, said.stderr
    assert said.stderr.startswith("whence: there is no folder ./none (there is .)")
