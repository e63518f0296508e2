"""The command line: `whence audit`, `explain`, `run`, `reproduce`, `train`, `data`, `list`, `report`.

Each command's options are made from one class. Whatever needs torch is imported when a command needs it, so that help,
lists and reports come at once.
"""

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from whence.core.errors import WhenceError

BAD_INPUT, INTERRUPTED = 2, 130
NO_MEMORY = ("can't allocate memory", "out of memory")  # torch has no error of its own for the first
COMMANDS = {
    "audit": "ask of a model and a table: is this attention an explanation? (without either: embedded ones)",
    "explain": "score the tokens of a text by several methods, side by side",
    "run": "run one experiment: a table, a figure, a verdict",
    "reproduce": "a paper's tables and figures, the published numbers beside ours",
    "train": "train a reference model on a corpus",
    "data": "list, get or show corpora",
    "list": "the experiments, explainers, corpora and studies there are",
    "report": "write an audit's report again from its saved tables",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; a mistake of the user's is one sentence and exit code 2."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        sys.exit(dispatch(arguments))
    except WhenceError as error:
        print(f"whence: {error}", file=sys.stderr)
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        print("\nwhence: stopped. What was finished is saved; run the same command again to go on.", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except (MemoryError, RuntimeError) as error:
        if not (isinstance(error, MemoryError) or any(sign in str(error) for sign in NO_MEMORY)):
            raise
        print("whence: the memory is too small for this; read fewer texts at a time (--batch-size 1), or shorter ones",
              file=sys.stderr)  # fmt: skip
        sys.exit(BAD_INPUT)
    except BrokenPipeError:  # `whence list | head`: nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def dispatch(arguments: list[str]) -> int:
    """The command that the first word names."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(usage())
        return 0 if arguments else BAD_INPUT
    if arguments[0] in ("-V", "--version"):
        from whence import __version__

        print(__version__)
        return 0
    command, *rest = arguments
    if command not in COMMANDS:
        print(f"whence: no command {command!r}\n\n{usage()}", file=sys.stderr)
        return BAD_INPUT
    return _command(command)(rest)


def usage() -> str:
    """What there is."""
    lines = [f"  whence {name:<9} {about}" for name, about in COMMANDS.items()]
    return "\n".join(["Is this model's attention an explanation of its predictions?", "", *lines, "",
                      "`whence COMMAND --help` says more. Exit codes: 0 done, 2 bad input, 130 stopped."])  # fmt: skip


def _command(name: str) -> Callable[[list[str]], int]:
    return import_module(f"whence.commands.{name}").command
