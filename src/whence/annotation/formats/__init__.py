"""Studies in the formats of other annotation tools: items out, answers in. The key never goes out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Literal

from whence.annotation.answers import Answer
from whence.annotation.study import Study

FormatName = Literal["label-studio", "doccano", "argilla", "potato", "csv"]


@dataclass(frozen=True)
class Format:
    """How a tool's files are written and read. `write` returns the files; `read` the answers by annotator."""

    about: str
    write: Callable[[Study, Path], list[Path]]
    read: Callable[[Study, Sequence[Path]], dict[str, list[Answer]]]


def format_of(name: FormatName) -> Format:
    """The format of a tool."""
    found: Format = import_module(f"whence.annotation.formats.{name.replace('-', '_')}").FORMAT
    return found
