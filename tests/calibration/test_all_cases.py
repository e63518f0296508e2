"""Calibration at small scale: cases are audited, recorded, and not run again until the rules change."""

import json

import pytest

from whence.calibration import run_case
from whence.calibration.all_cases import jobs, run_all
from whence.calibration.kinds import KINDS
from whence.calibration.run_case import Job
from whence.calibration.variants import VARIANTS
from whence.cli import dispatch
from whence.core.errors import BadConfig


def test_a_case_is_not_run_again_until_the_rules_change(tmp_path, monkeypatch):
    job = Job("past-mean", 0, 200)
    (record,) = run_all([job], tmp_path, (1,), quiet=True)
    assert record["error"] == ""
    assert record["verdicts"]["1"]["answer"] == record["known"]["1"] == "no"
    monkeypatch.setattr(run_case, "run_now", lambda *given: pytest.fail("it was run again"))
    assert run_all([job], tmp_path, (1,), quiet=True) == [record]
    monkeypatch.setattr(run_case, "run_now", lambda *given: {**record, "seed": 99})
    monkeypatch.setattr(run_case, "rules_fingerprint", lambda: "other rules")
    assert run_all([job], tmp_path, (1,), quiet=True)[0]["seed"] == 99


def test_a_case_that_fails_does_not_stop_the_others(tmp_path, monkeypatch):
    def broken(seed, n):
        raise ValueError("no such model")

    from dataclasses import replace

    monkeypatch.setitem(KINDS, "majority", replace(KINDS["majority"], make=broken))
    failed, fine = run_all([Job("majority", 0, 20), Job("past-mean", 0, 20)], tmp_path, (1,), quiet=True)
    assert failed["error"].startswith("ValueError: no such model")
    assert fine["error"] == ""


def test_the_command_writes_tables_a_page_and_json(tmp_path, capsys):
    arguments = ["calibrate", "--cases", "pieces-both", "majority", "--questions", "1", "--out", str(tmp_path)]
    assert dispatch([*arguments, "--docs", str(tmp_path / "page.md"), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert {row["case"]: row["verdict"] for row in printed["verdicts"] if row["question"] == 1} == {
        "pieces-both-n50-seed0": "yes",
        "majority-n50-seed0": "undecided",
    }
    assert printed["failed"] == []
    assert (tmp_path / "verdicts.csv").exists()
    assert "2 cases of 2 kinds" in (tmp_path / "page.md").read_text()
    assert dispatch([*arguments, "--quiet"]) == 0
    assert "1. Does attention matter? 2 cases, 1 decided: right 100 %" in capsys.readouterr().out


def test_full_scale_has_200_cases_and_more():
    full = jobs("full")
    assert len([job for job in full if not job.variant]) >= 200
    assert {job.n for job in full} >= {20, 50, 100, 300, 500}
    assert len({job.name for job in full}) == len(full)
    with pytest.raises(BadConfig, match="no kind of case matches"):
        jobs("quick", ["nothing-*"])


def test_changes_keep_what_the_model_does():
    from whence.calibration.measured import accuracy

    case = Job("one-head-of-four", 0, 20).make()
    seen = {(case.subject.fingerprint, case.corpus.checksum)}
    for change in ("classes renamed", "texts reordered", "heads relabelled", "logits divided by ten"):
        case = VARIANTS[change](case)
        assert accuracy(case.subject, case.corpus["test"]) == 1.0
        seen.add((case.subject.fingerprint, case.corpus.checksum))
    assert len(seen) == 5, "a change changed nothing"
