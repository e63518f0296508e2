"""The command line: `whence audit`, `explain`, `serve`, `run`, `reproduce`, `train`, `data`, `list`, `report`.

tyro parses the options of each command from one class. Which command is meant is decided here by the first word: tyro's
own subcommands build the classes of all commands before they choose one (`constructor_factory` is called for each), so
that `whence --help` would import every command, and an error would name `whence --help` in place of the command's help.
So the command's file is imported when it is called, and torch only when the command needs it.
"""

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from whence.commands import COMMANDS as COMMANDS
from whence.core.errors import WhenceError, is_out_of_memory
from whence.core.unicode import refuse_undecoded

BAD_INPUT, INTERRUPTED = 2, 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; an error of the user gets one sentence and exit code 2."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        sys.exit(dispatch(arguments))
    except WhenceError as error:
        print(f"whence: {error}", file=sys.stderr)
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        print("\nwhence: interrupted. Finished work is saved; run the same command again to resume.", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        print("whence: out of memory; use smaller batches (--batch-size auto, or 1) or shorter texts", file=sys.stderr)
        sys.exit(BAD_INPUT)
    except BrokenPipeError:  # `whence list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def dispatch(arguments: list[str]) -> int:
    """Run the command that the first word names."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(usage())
        return 0 if arguments else BAD_INPUT
    if arguments[0] in ("-V", "--version"):
        from whence import __version__

        print(__version__)
        return 0
    refuse_undecoded(arguments)
    command, *rest = arguments
    if command not in COMMANDS:
        print(f"whence: no command {command!r}\n\n{usage()}", file=sys.stderr)
        return BAD_INPUT
    return _command(command)(rest)


def usage() -> str:
    """The commands, for `whence --help`."""
    lines = [f"  whence {name:<10} {about}" for name, about in COMMANDS.items()]
    title = "Does this model's attention explain its predictions?"
    end = "`whence COMMAND --help` lists the options. Exit codes: 0 done, 2 bad input, 130 interrupted."
    return "\n".join([title, "", *lines, "", end])


def _command(name: str) -> Callable[[list[str]], int]:
    return import_module(f"whence.commands.{name}").command
