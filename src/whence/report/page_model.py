"""What a page is made of: plain values, nothing that computes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whence.results.verdict import Verdict


@dataclass(frozen=True)
class Table:
    """A small table under a question. Only its first rows are shown; the whole is in the results."""

    caption: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class TextExample:
    """A text with the scores of its words by several explainers, shown under a title."""

    title: str
    note: str
    words: Sequence[str]
    scores: Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Further:
    """The verdict of an experiment that answers another question than the six."""

    question: str
    verdict: Verdict


@dataclass(frozen=True)
class Part:
    """One audited model on one corpus. Verdicts, figures and tables go by the number of their question.

    A figure is a caption and an SVG made by `whence.figures`; those of `further` have the number `NONE`, in the same
    order. `examples` are shown under question 3. `how` says of a question not asked how to ask it. `results` are the
    manifests of the results that the verdicts rest on.
    """

    name: str
    about: str
    verdicts: Mapping[int, Verdict]
    figures: Mapping[int, Sequence[tuple[str, str]]] = field(default_factory=dict)
    tables: Mapping[int, Sequence[Table]] = field(default_factory=dict)
    notes: Sequence[str] = ()
    results: Sequence[Mapping[str, Any]] = ()
    how: Mapping[int, str] = field(default_factory=dict)
    further: Sequence[Further] = ()
    examples: Sequence[TextExample] = ()


@dataclass(frozen=True)
class AuditPage:
    """A whole report: its parts, the command that made it and when."""

    title: str
    parts: Sequence[Part]
    command: str = ""
    made: str = ""
