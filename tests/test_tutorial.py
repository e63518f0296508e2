"""The tutorial runs as it stands."""

import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from support.trainings import tutorial_model

TUTORIAL = Path(__file__).parent.parent / "docs" / "tutorial.ipynb"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the notebook machinery
def test_the_tutorial_runs_and_shows_what_it_says(tmp_path):
    shutil.copytree(tutorial_model(), tmp_path / "tutorial-model")
    notebook = nbformat.read(TUTORIAL, as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    shown = [output.data for output in outputs if output.output_type == "execute_result"]
    assert sum("text/html" in data for data in shown) >= 3  # the explanation and two tables
    assert any("image/png" in data for data in shown) or any("Figure" in data["text/plain"] for data in shown)
    assert not [output for output in outputs if output.output_type == "error"]
    assert (tmp_path / "tutorial-model" / "model.safetensors").exists()


def test_the_tutorial_is_kept_without_outputs():
    notebook = nbformat.read(TUTORIAL, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
