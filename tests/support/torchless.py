"""A process in which torch cannot be imported, where saved tables are drawn and judged."""

import atexit
import json
import subprocess
import sys
from functools import cache
from pathlib import Path

WITHOUT_TORCH = """
import sys

class Refused:
    def find_spec(self, name, *_):
        if name.split(".")[0] in ("torch", "transformers"):
            raise ImportError(f"{name} is not to be imported")

sys.meta_path.insert(0, Refused())
from whence.cli import main
"""

JUDGE = """
import json
import traceback
import matplotlib.pyplot
import pandas as pd
from whence.results.experiment import experiment

for line in sys.stdin:
    path, name = json.loads(line)
    try:
        table = pd.read_parquet(path)
        assert experiment(name).figure(table).axes
        assert all(figure.axes for figure in experiment(name).figures(table).values())
        answer = [experiment(name).verdict(table).sentence, ""]
    except Exception:  # of any kind: the test that asked fails with this traceback, and the next table is judged
        answer = ["", traceback.format_exc()]
    matplotlib.pyplot.close("all")
    print(json.dumps(answer), flush=True)
"""


@cache
def judge() -> "subprocess.Popen[str]":
    """The process, started once."""
    command = [sys.executable, "-c", WITHOUT_TORCH + JUDGE]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.kill)
    return process


def judged(folder: Path | str, name: str) -> str:
    """The verdict's sentence on a saved result of an experiment, drawn and judged where torch cannot be imported."""
    process = judge()
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps([f"{folder}/table.parquet", name]) + "\n")
    process.stdin.flush()
    sentence, failure = json.loads(process.stdout.readline())
    assert not failure, failure
    return sentence
