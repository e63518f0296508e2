"""Experiments of others in an audit: they answer a question, or stand apart from all."""

import sys

import pandas as pd
import pytest

from support.saved_models import audit_settings as settings
from whence.auditing import prepare as preparing
from whence.auditing import write_report as reporting
from whence.auditing.run import audit
from whence.core.errors import BadConfig
from whence.evaluation.config import ExperimentConfig
from whence.figures.intervals import intervals
from whence.results.columns import Column, Columns
from whence.results.experiment import Experiment, Needs
from whence.results.verdict import NONE, Effect, Verdict


class LengthConfig(ExperimentConfig):
    """Count the letters of texts."""


def made_length(question: int) -> Experiment:
    """An experiment as another package might have it."""

    def verdict(table: pd.DataFrame) -> Verdict:
        effect = Effect("letters", "letters of a text", float(table["letters"].mean()), 0.0, 99.0, "letters", 1.0, 24)
        return Verdict(question, "yes", "Texts have letters.", (effect,), "Letters were counted.", "a", "b")

    columns = Columns(what="one row per example", letters=Column(int, "letters of the text"))
    return Experiment(
        about="Are texts long?",
        config=LengthConfig,
        columns=columns,
        caption="Letters of the texts.",
        run=lambda config, context: columns.table([{"letters": len(e.text)} for e in context.examples]),
        figure=lambda table: intervals(verdict(table).effects),
        verdict=verdict,
        needs=Needs(labels=False),
    )


LENGTH, PLAUSIBLE_LENGTH = made_length(NONE), made_length(6)


def test_an_audit_runs_further_experiments_if_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(reporting, "save", lambda *_: [])
    monkeypatch.setitem(sys.modules, "made_up", sys.modules[__name__])
    names = ("made_up:LENGTH", "made_up:PLAUSIBLE_LENGTH", "gating:missing")
    with pytest.raises(BadConfig, match="gating:missing"):
        audit(settings(tmp_path, experiments=names), quiet=True, say=lambda _: None)
    monkeypatch.setattr(preparing, "matters", lambda *_, **__: ([], []))
    monkeypatch.setattr(preparing, "of_any_model", lambda *_, **__: [])
    (part,) = audit(settings(tmp_path, experiments=names[:2]), quiet=True, say=lambda _: None).parts
    assert [result.experiment for result in part.results] == list(names[:2])
    assert (list(part.verdicts), part.verdicts[6].sentence) == ([6], "Texts have letters.")
    page = (tmp_path / "report.html").read_text()
    assert page.count("Apart from the six questions") == 1
    assert page.count("Are texts long?") >= 1
    assert page.count("Letters of the texts.") == 4, "two figures, each with a caption and a description"
    with pytest.raises(BadConfig, match="memory trains its own models"):
        audit(settings(tmp_path, experiments=("memory",)), quiet=True, say=lambda _: None)
