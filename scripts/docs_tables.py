"""Write the tables of README.md from docstrings: commands, experiments, explainers, models and studies.

A table stands between `<!-- NAME: begin -->` and `<!-- NAME: end -->`; a page has those whose marks it has.
`python scripts/docs_tables.py` writes them, with `--check` it only says whether they are up to date.
"""

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from whence.attribution.registry import EXPLAINERS
from whence.cli import COMMANDS
from whence.plugins import Registry
from whence.reference_model import REFERENCE_MODELS
from whence.reproducing import study_files
from whence.results.experiment import EXPERIMENTS

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md",)
USAGE = {
    "audit": "audit [MODEL] [DATA]",
    "explain": "explain MODEL TEXT",
    "serve": "serve [MODEL] [DATA]",
    "run": "run EXPERIMENT --model MODEL --data DATA",
    "reproduce": "reproduce STUDY",
    "study": "study FILE.toml`, `study status FILE.toml",
    "compare": "compare STUDY",
    "train": "train MODEL --data DATA",
    "data": "data list`, `get NAME`, `show NAME",
    "list": "list",
    "report": "report FOLDER",
    "calibrate": "calibrate",
    "doctor": "doctor",
    "completion": "completion SHELL",
    "annotate": "annotate prepare`, `serve`, `analyse",
}


def table(head: tuple[str, str], rows: Mapping[str, str]) -> str:
    """A Markdown table of names in code and one line about each."""
    lines = [f"| {head[0]} | {head[1]} |", "|---|---|"]
    return "\n".join([*lines, *(f"| `{name}` | {text.replace('|', chr(92) + '|')} |" for name, text in rows.items())])


def built_in(registry: Registry[object]) -> dict[str, str]:
    """What the package itself has, with the first line about each: other packages' plug-ins are not in our docs."""
    return {name: registry.about(name).removeprefix(f"`{name}`: ") for name in registry.built_in}


def commands() -> str:
    """The commands, as `whence --help` lists them."""
    return table(("command", "what it does"), {f"whence {USAGE[name]}": about for name, about in COMMANDS.items()})


def experiments() -> str:
    """The experiments, each with its question."""
    return table(("experiment", "question"), built_in(EXPERIMENTS))


def explainers() -> str:
    """The explainers, each with what it scores by."""
    return table(("explainer", "score of a token"), built_in(EXPLAINERS))


def models() -> str:
    """The reference models, each with what it is."""
    return table(("model", "what it is"), built_in(REFERENCE_MODELS))


def studies() -> str:
    """The studies, each with its paper."""
    return table(("study", "paper"), {name: study_files.read(name).title for name in study_files.names()})


TABLES: dict[str, Callable[[], str]] = {
    "commands": commands,
    "experiments": experiments,
    "explainers": explainers,
    "models": models,
    "studies": studies,
}


def filled(text: str) -> str:
    """The page with its tables made anew."""
    for name, made in TABLES.items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        if begin in text:
            between = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
            whole = f"{begin}\n{made()}\n{end}"
            text = between.sub(lambda _, whole=whole: whole, text)  # type: ignore[misc]
    return text


def main(arguments: list[str]) -> int:
    """Write the pages, or with `--check` name those that are out of date."""
    stale = [page for page in PAGES if filled(page.read_text(encoding="utf-8")) != page.read_text(encoding="utf-8")]
    for page in stale:
        if "--check" in arguments:
            print(f"{page.name} is out of date: run `make docs-tables`", file=sys.stderr)
        else:
            page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
