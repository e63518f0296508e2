"""A sweep of adversaries that is killed goes on where it was: models that were finished are not trained again."""

import subprocess
import sys
from pathlib import Path

import pandas as pd

from whence.data.synthetic import reviews
from whence.evaluation.runner import run_experiment
from whence.experiments import adversary
from whence.results.store import Store
from whence.training.config import Training
from whence.training.record import RECORD
from whence.training.train import train

SIZES = {"train": 120, "dev": 30, "test": 30}
KILLED = f"""
import os, sys
from pathlib import Path
from whence.data.synthetic import reviews
from whence.experiments import adversary
from whence.evaluation.runner import run_experiment
from whence.training import fit as fitting, train as workshop
from whence.results.store import Store

workshop.processors = lambda: 1
epochs, written = [], fitting._write

def writing(*given):
    written(*given)
    epochs.append(1)
    if len(epochs) == 3:  # in the midst of the second model
        os.kill(os.getpid(), 9)

fitting._write = writing
out = Path(sys.argv[1])
config = adversary.Config(model=sys.argv[2], data="reviews", strengths=(0.1, 0.5, 1.0))
run_experiment("adversary", config, Store(out), corpus=reviews.load(sizes={SIZES}), quiet=True)
"""


def finished(out: Path) -> dict[str, int]:
    """When each model that is finished was written."""
    return {
        folder.name: (folder / RECORD).stat().st_mtime_ns
        for folder in (out / "models").iterdir()
        if (folder / RECORD).exists()
    }


def test_what_was_trained_before_a_kill_is_kept_and_the_table_is_the_same(tmp_path):
    corpus, base = reviews.load(sizes=SIZES), tmp_path / "base"
    train(Training(data="reviews", embedding_size=16, hidden_size=8, epochs=2), base, corpus=corpus, quiet=True)
    config = adversary.Config(model=str(base), data="reviews", strengths=(0.1, 0.5, 1.0))
    out = tmp_path / "killed"
    died = subprocess.run([sys.executable, "-c", KILLED, out, base], capture_output=True, check=False)
    assert died.returncode == -9, died.stderr
    before = finished(out)
    assert len(before) == 1
    assert len([path for path in (out / "models").iterdir() if path.is_dir()]) == 2
    assert not list(out.glob("results/adversary/*"))
    table = run_experiment("adversary", config, Store(out), corpus=corpus, quiet=True).table
    after = finished(out)
    assert len(after) == 3
    assert before.items() <= after.items(), "what was finished is not trained again"
    whole = run_experiment("adversary", config, Store(tmp_path / "whole"), corpus=corpus, quiet=True).table
    pd.testing.assert_frame_equal(table, whole)
