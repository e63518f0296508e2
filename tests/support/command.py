"""The command line inside the test's own process: its words and its exit code."""

from dataclasses import dataclass

import pytest

from whence.cli import main


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str


def whence(capsys: pytest.CaptureFixture[str], *arguments: object) -> Said:
    capsys.readouterr()
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    heard = capsys.readouterr()
    return Said(int(stopped.value.code or 0), heard.out, heard.err)
