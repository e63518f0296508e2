"""What the commands share: options parsed into classes, progress on stderr, verdicts as text."""

import io
import logging
import sys
from contextlib import redirect_stderr
from dataclasses import dataclass
from typing import TypeVar

import tyro
from pydantic import ValidationError
from tyro.conf import arg

from whence.commands.parse_errors import one_line
from whence.core.errors import BadConfig
from whence.options import sentence
from whence.results.verdict import QUESTIONS, Verdict

Chosen = TypeVar("Chosen")
HERE = arg(name="")  # no prefix for the options of a nested class: --seed, --columns.label


@dataclass(frozen=True)
class Output:
    """How the outcome is printed."""

    json: bool = False
    """print one JSON object and nothing else"""
    quiet: bool = False
    """suppress progress output"""

    @property
    def silent(self) -> bool:
        """Whether progress output is suppressed."""
        return self.json or self.quiet

    def say(self, words: str) -> None:
        """Print progress to stderr, so that stdout holds only the outcome."""
        if not self.silent:
            print(words, file=sys.stderr, flush=True)


def parsed(kind: type[Chosen], program: str, arguments: list[str], about: str | None = None) -> Chosen:
    """Parse the options of a command; an invalid value is an error of one sentence."""
    messages = io.StringIO()
    try:
        with redirect_stderr(messages):
            return tyro.cli(kind, prog=f"whence {program}", args=arguments, description=about)
    except ValidationError as error:
        raise BadConfig(sentence(error)) from error
    except SystemExit as stopped:
        if stopped.code in (0, None):
            raise
        raise BadConfig(one_line(messages.getvalue())) from None


def option_value(arguments: list[str], option: str) -> str | None:
    """The value given for an option, as --option=VALUE or --option VALUE; None if it is not given."""
    for number, word in enumerate(arguments):
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
        if word == option and number + 1 < len(arguments):
            return arguments[number + 1]
    return None


def describe_verdict(verdict: Verdict) -> str:
    """A verdict for the terminal."""
    question = (
        f"{verdict.question}. {QUESTIONS[verdict.question]}" if verdict.question else "None of the six questions:"
    )
    advice = f"\n     {verdict.advice}" if verdict.advice else ""
    return f"  {question} {verdict.answer.upper()}\n     {verdict.sentence}{advice}"


def quieten() -> None:
    """Suppress log messages and progress bars of other libraries."""
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
