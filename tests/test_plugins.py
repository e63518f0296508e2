"""Plug-ins from another package and from a script: every command knows them, and a broken one breaks nothing else."""

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from support import saved_models, tiny_package
from support.shared import once
from support.torchless import WITHOUT_TORCH
from whence import plugin_api

TEXT = "the plot is dull"
EACH = """
import contextlib, io, json, sys
from whence.cli import main

found = []
for arguments in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit as stopped:
            found.append([stopped.code, out.getvalue(), err.getvalue()])
            continue
        found.append([0, out.getvalue(), err.getvalue()])
print(json.dumps(found))
"""


def whence_in(folder: Path, path: Path, *commands: tuple[object, ...]) -> list[tuple[int, str, str]]:
    """Exit code, output and messages of several commands, run one after another in one process of its own."""
    given = json.dumps([[str(word) for word in command] for command in commands])
    searched = os.pathsep.join([str(path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", EACH, given],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": searched},
    )
    assert done.returncode == 0, done.stderr
    return [(code or 0, out, err) for code, out, err in json.loads(done.stdout.splitlines()[-1])]


@cache
def asked() -> dict[str, tuple[int, str, str]]:
    """All that is asked of the tiny package, once in a test run and in one process: torch is imported once."""
    return json.loads((once("plugins", ask) / "found.json").read_text())


def ask(folder: Path) -> None:
    installed = tiny_package.install(folder / "site")
    bert, table, options = saved_models.bert(), saved_models.labelled(), saved_models.AUDIT_OPTIONS
    (folder / "my_script.py").write_text(
        f"{tiny_package.EXPLAINER}\n{tiny_package.EXPERIMENT}\nNUMBER = 3\n", encoding="utf-8"
    )
    explain = ("explain", bert, TEXT, "--json", "--method")
    here = ("--model", bert, "--data", table, "--limit", 30, "--json", "--out")
    shutil.copytree(saved_models.audited(), folder / "e")  # the audit goes on from there with their experiment
    commands = {
        "list": ("list", "--json"),
        "explain": (*explain, "letters", "--options", "letters.power=2"),
        "explain script": (*explain, "my_script:letters", "--options", "my_script:letters.power=2"),
        "not replaced": (*explain, "raw_attention"),
        "run help": ("run", "counting", "--help"),
        "run": ("run", "counting", *here, folder / "a"),
        "run script": ("run", "my_script:COUNTING", *here, folder / "b"),
        "correlation": ("run", "correlation", "--method", "letters", "raw_attention", *here, folder / "c"),
        "train help": ("train", "small_bert", "--help"),
        "train": ("train", "small_bert", "--data", "tiny_words", "--width", 4, "--out", folder / "model", "--json"),
        "explain trained": ("explain", folder / "model", "yes", "--json", "--method", "letters"),
        "audit": ("audit", bert, table, *options, "--experiments", "counting", "--json", "--out", folder / "e"),
        "broken": (*explain, "broken_explainer"),
        "wrong type": ("run", "no_experiment", *here, folder / "d"),
        "wrong type in a script": (*explain, "my_script:NUMBER"),
        "no such name": (*explain, "my_script:nothing"),
        "no such module": ("run", "nowhere:COUNTING"),
    }
    found = whence_in(folder, installed, *commands.values())
    (folder / "found.json").write_text(json.dumps(dict(zip(commands, found, strict=True))))


def test_lists_show_them_and_say_which_cannot_be_used():
    code, out, err = asked()["list"]
    assert (code, err) == (0, "")
    there = json.loads(out)
    assert there["explainers"]["letters"] == "Score each token by its number of letters."
    assert there["experiments"]["counting"] == "How long are the texts?"
    assert there["corpora"]["tiny_words"] == "One word decides."
    assert there["models"]["small_bert"] == "A BERT of one layer."
    broken = there["explainers"]["broken_explainer"]
    assert broken.startswith("(cannot be used: the explainer broken_explainer of the package tiny-plugin cannot be")
    assert "No module named 'a_module_that_is_not_there'" in broken
    assert "expected an Experiment, got Columns" in there["experiments"]["no_experiment"]


@pytest.mark.parametrize("way", ["explain", "explain script"])
def test_an_explainer_takes_its_options(way):
    code, out, err = asked()[way]
    assert code == 0, err
    found = json.loads(out)
    assert found["how"] == {"letters": "letters, power 2"}
    assert found["scores"]["letters"] == [len(token) ** 2 for token in found["tokens"]]


def test_a_built_in_name_is_not_replaced():
    assert list(json.loads(asked()["not replaced"][1])["scores"]) == ["raw_attention"]


@pytest.mark.parametrize("way", ["run", "run script"])
def test_an_experiment_is_run_saved_and_judged(way):
    code, out, err = asked()[way]
    assert code == 0, err
    found = json.loads(out)
    assert found["verdict"]["sentence"].startswith("Texts have ")
    assert (Path(found["folder"]) / "table.parquet").exists()
    assert all(Path(path).exists() for path in found["figures"])


def test_its_options_are_the_commands():
    code, out, _ = asked()["run help"]
    shown = " ".join(out.replace("│", "").split())
    assert code == 0
    assert "--least INT words of a long text (default: 3)" in shown
    assert "How long are the texts?" in shown


def test_experiments_take_an_explainer_of_another_package():
    code, out, err = asked()["correlation"]
    assert code == 0, err
    assert json.loads(out)["verdict"]["answer"] in ("yes", "no", "undecided")


def test_a_model_is_trained_on_a_corpus_of_the_same_package():
    code, out, err = asked()["train"]
    assert code == 0, err
    assert 0 <= json.loads(out)["accuracy"] <= 1
    assert "--width INT" in asked()["train help"][1]
    code, out, err = asked()["explain trained"]
    assert code == 0, err
    assert json.loads(out)["prediction"] in ("yes", "no")


def test_an_audit_runs_an_experiment_of_another_package():
    code, out, err = asked()["audit"]
    assert code == 0, err
    report = Path(json.loads(out)["report"]).read_text(encoding="utf-8")
    assert "Texts have " in report


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("broken", "cannot be loaded from tiny_plugin.broken:explain: ModuleNotFoundError"),
        ("wrong type", "no_experiment is not a valid experiment: expected an Experiment, got Columns"),
        ("wrong type in a script", "my_script:NUMBER is not a valid explainer: expected a function explain("),
        ("no such name", "no explainer 'my_script:nothing': AttributeError"),
        ("no such module", "no experiment 'nowhere:COUNTING': ModuleNotFoundError"),
    ],
)
def test_what_cannot_be_used_gets_a_sentence(way, words):
    code, out, err = asked()[way]
    assert (code, out) == (2, "")
    assert err.startswith("whence: ")
    assert words in err
    assert "Traceback" not in err


def test_an_experiment_is_written_without_torch():
    names = "BadConfig, Column, Columns, Corpus, Effect, Entry, Example, Experiment, ExperimentConfig, Needs, Verdict"
    script = f"{WITHOUT_TORCH}\nfrom whence.plugin_api import {names}"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_every_name_for_authors_is_there():
    for name in plugin_api.__all__:
        assert getattr(plugin_api, name).__doc__, name
    with pytest.raises(AttributeError, match=r"has no attribute 'Experimnt'; it has: .*Experiment"):
        _ = plugin_api.Experimnt
