"""What every command says of itself, at once and without torch."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.command import whence
from support.torchless import WITHOUT_TORCH
from whence.cli import COMMANDS
from whence.commands._shared import parsed
from whence.reference_model import REFERENCE_MODELS
from whence.results.experiment import names
from whence.training.config import Training


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    said = whence(capsys, command, "--help")
    assert (said.code, said.err) == (0, "")
    assert f"whence {command}" in said.out


def test_the_first_help_lists_all_commands(capsys):
    said = whence(capsys, "--help")
    assert said.code == 0
    for command, about in COMMANDS.items():
        assert f"whence {command}" in said.out
        assert about in said.out
    assert whence(capsys, "--version").out.strip()


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (("audit",), ("--budget", "minutes to spend", "--columns.label", "--out", "--json", "one JSON object")),
        (("run", "permutation"), ("--permutations", "shuffles of each example", "--model", "--granularity", "--limit")),
        (("run", "ablation"), ("--variants", "--draws", "--retrain", "--special-tokens", "--columns.text")),
        (("train", "additive"), ("--encoder", "encoder of the words", "--data", "--epochs", "--out")),
        (("explain",), ("--method", "gradient_x_input", "--form", "--measure", "--out")),
    ],
)
def test_options_with_their_descriptions(arguments, options, capsys):
    said = whence(capsys, *arguments, "--help")
    for option in options:
        assert option in " ".join(said.out.replace("│", "").split()), option


def test_help_of_train_lists_the_models_and_that_of_a_model_its_options(capsys):
    shown = whence(capsys, "train", "--help").out
    assert "  hierarchical   words make sentences" in shown
    assert all(f"  {name} " in shown for name in REFERENCE_MODELS.names())
    for name in REFERENCE_MODELS.names():
        options = REFERENCE_MODELS.get(name).options.model_fields
        expected = {f"--{option.replace('_', '-')}" for option in (*options, *Training.model_fields)}
        lines = whence(capsys, "train", name, "--help").out.splitlines()
        offered = {
            found[1] for line in lines if (found := re.match(r"[│| ]{0,2}(?:-h, )?(--[a-z][a-z-]*)(?:[ ,]|$)", line))
        }
        hidden = {"--model", "--options", "--columns", "--adversarial", "--guided-by"}
        assert offered == (expected - hidden) | {"--help", "--out", "--json", "--quiet"}
    assert "(default: 300)" in whence(capsys, "train", "disan", "--help").out
    assert "--hidden-size" not in whence(capsys, "train", "some/saved-model", "--help").out


def test_help_and_lists_need_no_torch():
    asked = [
        ["--help"],
        ["audit", "--help"],
        ["run", "--help"],
        ["run", "ablation", "--help"],
        ["list"],
        ["train", "--help"],
        ["explain", "--help"],
        ["data", "list"],
        ["data", "show", "reviews"],
        ["report", "--help"],
    ]
    each = f"""
for arguments in {asked}:
    try:
        main(arguments)
    except SystemExit as stopped:
        assert not stopped.code, arguments
"""
    said = subprocess.run([sys.executable, "-c", WITHOUT_TORCH + each], capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    assert said.stderr == ""


def test_lists(capsys):
    said = whence(capsys, "list")
    for name in ("ablation", "permutation", "raw_attention", "leave_one_out", "reviews", "sst"):
        assert name in said.out
    there = json.loads(whence(capsys, "list", "--json").out)
    assert set(there) == {"experiments", "explainers", "corpora", "models", "studies"}
    assert there["experiments"]["permutation"] == "Does shuffling attention move the prediction?"


def test_data(capsys, tmp_path):
    assert "reviews         synthetic" in whence(capsys, "data", "list").out
    assert {row["name"] for row in json.loads(whence(capsys, "data", "list", "--json").out)} >= {"reviews", "sst"}
    shown = whence(capsys, "data", "show", "reviews").out
    assert "test   400 examples (200 negative, 200 positive)" in shown
    assert "rationale" in shown
    as_json = json.loads(whence(capsys, "data", "show", "reviews", "--json").out)
    assert as_json["counts"]["dev"] == {"negative": 200, "positive": 200}
    missing = whence(capsys, "data", "show", "sst", "--data-dir", tmp_path)
    assert missing.code == 2
    assert "whence data get sst" in missing.err


def test_a_reader_that_goes_away_is_no_error():
    command = f'"{sys.executable}" -m whence data show stories --json | head -n 1'
    piped = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert piped.stderr == ""


EACH = [*((command,) for command in COMMANDS), *(("run", name) for name in names())]
TRAIN = [("train", model) for model in ("additive", "transformer", "pooled", "some/saved-model")]


def flaws(shown: str) -> list[str]:
    """What a person should not have to read in a help text: Python's None, empty defaults and doubled ones."""
    words = " ".join(shown.replace("│", "").split())
    return re.findall(r"\{None\}|default: None|\(default: ?\)|\(default[^)]*\)\.? \(default[^)]*\)", words)


def test_arguments_that_may_be_left_out_are_in_brackets(capsys):
    shown = {command: whence(capsys, command, "--help").out.splitlines()[0] for command in COMMANDS}
    assert shown["audit"].endswith("[MODEL] [DATA]")
    assert shown["reproduce"].endswith("[STUDY]")
    assert shown["data"].endswith("{list,get,show} [NAME]")
    assert "[FOLDER]" in shown["report"]
    assert shown["explain"].endswith("MODEL TEXT|TABLE")


def test_columns_that_are_never_inferred_do_not_say_so(capsys):
    words = " ".join(whence(capsys, "run", "permutation", "--help").out.replace("│", "").split())
    assert "a text to be produced (default: none)" in words
    assert "the class (default: inferred)" in words


@pytest.mark.parametrize("arguments", [*EACH, *TRAIN])
def test_help_says_what_is_taken_where_nothing_is_named(arguments, capsys):
    assert flaws(whence(capsys, *arguments, "--help").out) == []


def test_a_flaw_in_a_help_text_would_be_noticed(capsys):
    @dataclass
    class Options:
        empty: tuple[str, ...] = ()
        missing: Path | None = None
        """doubled (default: here)"""

    with pytest.raises(SystemExit):
        parsed(Options, "x", ["--help"], "x")
    found = flaws(capsys.readouterr().out)
    assert set(found) == {"(default: )", "{None}", "(default: here) (default: None)"}
