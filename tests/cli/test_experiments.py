"""Experiments from the command line; what they saved is drawn and judged without torch."""

import json
import re
import subprocess
import sys

import pytest
from command import whence
from test_help import WITHOUT_TORCH

import saved_models

JUDGED = """
import pandas as pd
from whence.experiments import experiment
table, name = pd.read_parquet(sys.argv[1]), sys.argv[2]
assert experiment(name).figure(table).axes
print(experiment(name).verdict(table).sentence)
"""


@pytest.mark.parametrize(
    ("name", "options", "model", "rows"),
    [
        ("erasure", ("--erase", "input", "--sites", "*.0.*", "*.1.*"), "bert", "5 rows, one row per example"),
        ("layers", ("--draws", 2, "--specials"), "bert", "30 rows, one row per example, group of layers"),
        ("gating", (), "additive", "5 rows, one row per example"),
        ("correlation", ("--options", "raw_attention.heads=max"), "bert", "15 rows, one row per example and pair"),
        ("instance_adversary", ("--steps", 5, "--max-output-change", 0.01, 0.05, 0.1), "additive",
         "15 rows, one row per example and limit"),
        ("words", ("--method", "lat", "random", "--options", "lat.normalize=l1"), "bert", ""),
        ("lexicon", ("--method", "lat", "random", "--at-least", 1), "bert", ""),
        ("heads", ("--lexicon", "vader"), "additive", ""),
        ("score", (), "additive", "5 rows, one row per example and seed"),
    ],
)  # fmt: skip
def test_run(name, options, model, rows, capsys, tmp_path):
    asked = ("run", name, "--model", getattr(saved_models, model)(), "--data", saved_models.labelled(), "--limit", 5,
             "--out", tmp_path, *options)  # fmt: skip
    said = whence(capsys, *asked, "--quiet")
    assert (said.code, said.err) == (0, "")
    assert re.search(rf"^{name}: .*{rows}", said.out)
    found = json.loads(whence(capsys, *asked, "--json").out)
    judge = [sys.executable, "-c", WITHOUT_TORCH + JUDGED, f"{found['folder']}/table.parquet", name]
    judged = subprocess.run(judge, capture_output=True, text=True, check=False)
    assert judged.returncode == 0, judged.stderr
    assert judged.stdout.strip() == found["verdict"]["sentence"]


def test_what_cannot_be_asked_is_said(capsys, tmp_path):
    asked = ("--model", saved_models.bert(), "--data", saved_models.labelled(), "--limit", 5, "--out", tmp_path)
    refused = whence(capsys, "run", "gating", *asked, "--quiet")
    assert refused.code == 2
    assert "does not weigh words one by one" in refused.err
    refused = whence(capsys, "run", "erasure", *asked, "--sites", "nowhere", "--quiet")
    assert refused.code == 2
    assert "no attention site 'nowhere'; there are: bert.encoder" in refused.err
    for name, option, said in (("lexicon", ("--lexicon", "mine.csv"), "no lexicon 'mine.csv' and no file of that name"),
                               ("words", ("--options", "lat.colour=red"), "lat has no option 'colour'"),
                               ("words", ("--method", "lait"), "no explainer 'lait' (did you mean lat?)")):  # fmt: skip
        refused = whence(capsys, "run", name, *asked, *option, "--quiet")
        assert (refused.code, said in refused.err) == (2, True)
