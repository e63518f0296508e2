"""What the commands share: options from classes, words to stderr, verdicts in words."""

import io
import logging
import sys
from contextlib import redirect_stderr
from dataclasses import dataclass
from typing import TypeVar

import tyro
from pydantic import ValidationError
from tyro.conf import arg

from whence.core.errors import BadConfig
from whence.options import sentence
from whence.results.verdict import QUESTIONS, Verdict

Chosen = TypeVar("Chosen")
HERE = arg(name="")  # a class's options stand among the command's own: --seed, --columns.label


@dataclass(frozen=True)
class Output:
    """How the command speaks."""

    json: bool = False
    """print one JSON object and nothing else"""
    quiet: bool = False
    """no progress bars and no words on the way"""

    @property
    def silent(self) -> bool:
        """Whether nothing is to be said on the way."""
        return self.json or self.quiet

    def say(self, words: str) -> None:
        """Words on the way, to stderr, so that stdout holds the outcome alone."""
        if not self.silent:
            print(words, file=sys.stderr, flush=True)


def parsed(kind: type[Chosen], program: str, arguments: list[str], about: str | None = None) -> Chosen:
    """The options of a command; a value that makes no sense gets a sentence."""
    said = io.StringIO()
    try:
        with redirect_stderr(said):
            return tyro.cli(kind, prog=f"whence {program}", args=arguments, description=about)
    except ValidationError as error:
        raise BadConfig(sentence(error)) from error
    except SystemExit as stopped:
        if stopped.code in (0, None):
            raise
        raise BadConfig(unboxed(said.getvalue())) from None


def unboxed(drawn: str) -> str:
    """The words in a box that was drawn for a screen, as one line, without what `--help` says as well.

    Where the screen knows no boxes, the title is a line of its own, and rules of dashes stand around the words.
    """
    lines = [line.strip(" │") for line in drawn.splitlines() if not set(line) & set("╭╰─")]
    rules = [number for number, line in enumerate(lines) if len(line) > 3 and set(line) == {"-"}]
    if rules:
        lines = [line for number, line in enumerate(lines) if number > rules[0] and number not in rules]
    words, _, hint = " ".join(line for line in lines if line).partition("For full helptext, ")
    words = words.partition("Argument helptext:")[0].partition("Got errors:")[0].strip(" .")
    return f"{words}; {hint.replace('run: ', 'run ')}" if hint else words


def leading(arguments: list[str], names: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The words before the first option, given the names of the options that they stand for."""
    n = next((i for i, word in enumerate(arguments) if word.startswith("-")), len(arguments))
    if n > len(names):
        raise BadConfig(f"at most {len(names)} words are expected before the options, came: {' '.join(arguments[:n])}")
    return [part for pair in zip(names, arguments[:n], strict=False) for part in pair], arguments[n:]


def said(arguments: list[str], option: str) -> str | None:
    """What is given for an option, as one word or as two; None if it is not named."""
    for number, word in enumerate(arguments):
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
        if word == option and number + 1 < len(arguments):
            return arguments[number + 1]
    return None


def told(verdict: Verdict) -> str:
    """A verdict in words."""
    asked = (
        f"{verdict.question}. {QUESTIONS[verdict.question]}" if verdict.question else "Apart from the six questions:"
    )
    return f"  {asked} {verdict.answer.upper()}\n     {verdict.sentence}"


def quieten() -> None:
    """Keep the libraries' own talk off the screen; ours says what matters."""
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
