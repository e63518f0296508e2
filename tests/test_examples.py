"""The examples run as they stand."""

import re
import runpy
from contextlib import nullcontext
from pathlib import Path

import pytest

from support.trainings import tutorial_model

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_the_core_at_work_says_what_it_found(capsys, tmp_path, monkeypatch):
    (tmp_path / "model").symlink_to(tutorial_model())
    main = runpy.run_path(str(EXAMPLES / "core.py"))["main"]
    monkeypatch.setitem(main.__wrapped__.__globals__, "TemporaryDirectory", lambda: nullcontext(tmp_path))
    main()
    shown = capsys.readouterr().out
    right = {
        how: float(share) for how, share in re.findall(r"^  (as trained|uniform attention) +([\d.]+) %$", shown, re.M)
    }
    assert right["as trained"] > 85
    assert right["uniform attention"] < right["as trained"]


def test_every_discrepancy_is_seen(capsys):
    main = runpy.run_path(str(EXAMPLES.parent / "scripts" / "discrepancies.py"))["main"]
    main([])
    shown = capsys.readouterr().out
    assert "single texts: 0.1 % in the text, 0.6 % from the tables" in shown
    assert "uniform attention: another second text changes the logits by at most 0.0e+00" in shown
    assert "λ = 2.6: F1 0.864 (kept)" in shown
    assert "λ = 3.1: F1 0.867 (kept)" in shown
    likely = [float(most) for most in re.findall(r"to ([\d.]+) times", shown)]
    assert likely[0] > 2.5 > 1.3 > likely[1]
    lat, mean = (float(tau) for tau in re.findall(r"τ ([\d.]+) between", shown))
    assert lat < 0.9
    assert mean > 0.99
    with pytest.raises(SystemExit, match="choose from: relative_decrease"):
        main(["nothing"])
