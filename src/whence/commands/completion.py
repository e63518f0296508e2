"""`whence completion SHELL`: a completion script for bash, zsh or fish, made from the commands' own help.

tyro can print completions of one parser; Whence has a parser for each command (see `whence.cli`), and for each
experiment and model. So the words that may follow are collected here once, and the script needs no Python when a key is
pressed. Print it again after an update, or when a plug-in was installed.
"""

import io
import re
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Literal

from tyro.conf import Positional

from whence.commands import COMMANDS
from whence.commands._shared import parsed

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9.-]*")
NAME = "_whence"


def command(arguments: list[str]) -> int:
    """`whence completion SHELL`."""

    @dataclass(frozen=True)
    class Options:
        shell: Positional[Literal["bash", "zsh", "fish"]]
        """which shell"""

    where = "~/.local/share/bash-completion/completions/whence"
    about = f"Print a completion script. For bash: whence completion bash > {where}"
    options = parsed(Options, "completion", arguments, about)
    script = {"bash": bash, "zsh": zsh, "fish": fish}[options.shell]
    print(script(candidates()))
    return 0


def candidates() -> dict[str, list[str]]:
    """What may follow: by "" the commands, by a command its words and options, and of `run NAME`, `train NAME`."""
    from whence.attribution.registry import EXPLAINERS
    from whence.data.registry import CORPORA
    from whence.reference_model import REFERENCE_MODELS
    from whence.reproducing import study_files
    from whence.results.experiment import EXPERIMENTS

    words: dict[str, Iterable[str]] = {
        "run": EXPERIMENTS.names(),
        "train": REFERENCE_MODELS.names(),
        "reproduce": study_files.names(),
        "data": ("list", "get", "show", *CORPORA.names()),
        "explain": EXPLAINERS.names(),
        "completion": ("bash", "zsh", "fish"),
    }
    deeper = [f"{name} {word}" for name in ("run", "train") for word in words[name]]
    found = {"": [*COMMANDS, "--help", "--version"]}
    return found | {asked: [*words.get(asked, ()), *options_of(asked)] for asked in (*COMMANDS, *deeper)}


def options_of(asked: str) -> list[str]:
    """The options that a command's help lists."""
    shown, (name, *rest) = io.StringIO(), asked.split()
    with redirect_stdout(shown), suppress(SystemExit):
        import_module(f"whence.commands.{name}").command([*rest, "--help"])
    return sorted(set(OPTION.findall(shown.getvalue())))


def bash(words: Mapping[str, list[str]]) -> str:
    """For bash: by the first two words where these are known, else by the first."""
    cases = "\n".join(f'    "{asked}") words="{" ".join(known)}" ;;' for asked, known in words.items())
    return f"""{NAME}() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" asked="" words=""
  [ "$COMP_CWORD" -gt 1 ] && asked="${{COMP_WORDS[1]}}"
  case "$asked" in run|train) [ "$COMP_CWORD" -gt 2 ] && asked="$asked ${{COMP_WORDS[2]}}" ;; esac
  case "$asked" in
{cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F {NAME} whence"""


def zsh(words: Mapping[str, list[str]]) -> str:
    """For zsh: through its bash compatibility."""
    return f"autoload -U +X bashcompinit && bashcompinit\n{bash(words)}"


def fish(words: Mapping[str, list[str]]) -> str:
    """For fish: the words of each command."""
    lines = [f"complete -c whence -n __fish_use_subcommand -a '{' '.join(words[''])}'"]
    for asked, known in words.items():
        if asked and " " not in asked:
            lines.append(f"complete -c whence -n '__fish_seen_subcommand_from {asked}' -a '{' '.join(known)}'")
    return "\n".join(lines)
