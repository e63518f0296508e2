"""Audits, experiments and explanations from Python as from the command line."""

import html
import shutil

import pytest

import whence
from support import saved_models
from whence.core.errors import BadConfig, BadData


@pytest.fixture(autouse=True)
def no_files_of_figures(monkeypatch):
    """They take longest."""
    monkeypatch.setattr("whence.auditing.write_report.save", lambda *_: [])


def test_from_python(tmp_path):
    """Continued from a finished audit whose last result is lost."""
    shutil.copytree(saved_models.audited(labels=False), tmp_path, dirs_exist_ok=True)
    shutil.rmtree(tmp_path / "results" / "identifiability")
    (tmp_path / "report.html").unlink()
    found = whence.audit(
        saved_models.bert(), saved_models.bare(), out=tmp_path, budget=0.05, force=True, skip=("controls",)
    )
    assert found.report == tmp_path / "report.html"
    assert (tmp_path / "results" / "identifiability").exists()
    assert callable(whence.audit), "also after its room was imported"
    assert "Does attention matter?" in repr(found)
    assert found._repr_html_().startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert html.unescape(found._repr_html_()).count(found.report.read_text()) == 1
    with pytest.raises(BadConfig, match="budget: input should be greater than 0, got -1"):
        whence.audit(budget=-1)
    with pytest.raises(BadConfig, match="bugdet: extra inputs are not permitted"):
        whence.audit(bugdet=1)
    with pytest.raises(BadConfig, match="give it the model's folder or name"):
        whence.audit(whence.load(saved_models.bert()), saved_models.bare())


def test_run_and_explain_from_python(tmp_path):
    model, data = str(saved_models.bert()), str(saved_models.labelled())
    result = whence.run("permutation", model, data, out=tmp_path, permutations=2, limit=4)
    assert "<table>" in result._repr_html_()
    assert len(list((tmp_path / "results" / "permutation").iterdir())) == 1
    with pytest.raises(BadConfig, match="permutations: input should be greater than 0, got 0"):
        whence.run("permutation", model, data, permutations=0)
    explanation = whence.explain(model, "i found the plot dull", methods=["raw_attention", "random"])
    assert set(explanation.scores) == {"raw_attention", "random"}
    assert "<bdi" in explanation._repr_html_()
    subject = whence.load(model)
    again = whence.run("permutation", subject, data, out=tmp_path, permutations=2, limit=4)
    assert again.table.equals(result.table)
    layer = whence.explain(subject, "i found the plot dull", methods=["raw_attention"], raw_attention={"layer": 0})
    assert "layer: 0" in layer.attributions[0].how
    with pytest.raises(BadData, match="the text is empty"):
        whence.explain(subject, "  ")
