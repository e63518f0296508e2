"""At a terminal tables and colours; in a pipe plain text; NO_COLOR is respected; the shell completes."""

import io
import subprocess
import sys

import pytest

from support.command import whence
from whence.cli import COMMANDS
from whence.commands import completion, terminal
from whence.report.overall_answer import Answer
from whence.results.experiment import names
from whence.results.verdict import Verdict

VERDICTS = {"reviews [x]": {1: Verdict(1, "yes", "Much is lost.", (), "done", "means", "not")}}
ANSWERS = {"reviews [x]": Answer("no", "It is not faithful.", "Look at question 3.", "1, 3")}


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch, **environment):
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm-256color", "COLUMNS": "100", **environment}.items():
        monkeypatch.setenv(name, value)
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    terminal.print_audit(ANSWERS, VERDICTS)
    return screen.getvalue()


def test_the_overall_answer_comes_first_and_in_colour(monkeypatch):
    text = shown(monkeypatch)
    assert "\x1b[1;31mNO.\x1b[0m" in text
    assert text.index("It is not faithful.") < text.index("Much is lost.")
    assert "reviews [x]" in text.replace("\x1b[1m", "").replace("\x1b[0m", "")


def test_no_colour_where_none_is_wanted(monkeypatch):
    text = shown(monkeypatch, NO_COLOR="1")
    assert "\x1b[1;31m" not in text
    assert "31m" not in text
    assert "NO." in text


def test_a_pipe_gets_plain_lines(capsys):
    assert "  ablation           How much accuracy" in whence(capsys, "list").out


def test_every_command_and_experiment_can_be_completed():
    words = completion.candidates()
    assert set(words[""]) == {*COMMANDS, "--help", "--version"}
    assert {"--budget", "--columns.label"} <= set(words["audit"])
    assert "--permutations" in words["run permutation"]
    assert set(names()) <= set(words["run"])
    assert "--hidden-size" in words["train additive"]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("whence au", {"audit"}),
        ("whence run permut", {"permutation"}),
        ("whence run permutation --permu", {"--permutations"}),
    ],
)
def test_bash_completes(typed, expected):
    words = {"": ["audit", "run"], "run": ["permutation", "words"], "run permutation": ["--permutations", "--limit"]}
    *before, last = typed.split()
    listed = " ".join([*before, last])
    asked = (
        f"{completion.bash(words)}\nCOMP_WORDS=({listed}); COMP_CWORD={len(before)}; _whence; echo ${{COMPREPLY[@]}}"
    )
    said = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
    assert set(said.stdout.split()) == expected
