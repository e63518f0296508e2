"""A finished audit: its tables and verdicts, each loaded and computed once. No model, no torch."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from whence.auditing.combine_verdicts import combine
from whence.core.errors import BadData
from whence.results.result import Result
from whence.results.store import Store
from whence.results.verdict import NONE, Verdict

RECORD = "audit.json"
REPORT = "report.html"


@dataclass(frozen=True, eq=False)
class AuditedPart:
    """One model on one corpus: what was measured, and what the plan left out."""

    name: str
    about: str
    results: Sequence[Result]
    left_out: Sequence[str] = ()

    @cached_property
    def by_experiment(self) -> Mapping[str, Verdict]:
        """The verdict of each experiment."""
        return {result.experiment: result.verdict() for result in self.results}

    @cached_property
    def verdicts(self) -> dict[int, Verdict]:
        """The combined verdict on each of the six questions that was asked."""
        return combine(self.by_experiment)

    @property
    def apart(self) -> list[Result]:
        """The results that answer none of the six questions."""
        return [result for result in self.results if self.by_experiment[result.experiment].question == NONE]

    @property
    def notes(self) -> list[str]:
        """What was inferred, cut or left out, each once."""
        of_results = [note for result in self.results for note in result.manifest.get("notes", [])]
        return [*dict.fromkeys([*of_results, *self.left_out])]


@dataclass(frozen=True, eq=False)
class FinishedAudit:
    """An audit's folder and its parts."""

    folder: Path
    parts: Sequence[AuditedPart]

    @property
    def report(self) -> Path:
        """Where its report is."""
        return self.folder / REPORT

    @property
    def verdicts(self) -> dict[str, dict[int, Verdict]]:
        """The verdicts, by part and question."""
        return {part.name: part.verdicts for part in self.parts}

    @property
    def notes(self) -> dict[str, list[str]]:
        """What was inferred, cut or left out, by part."""
        return {part.name: part.notes for part in self.parts}


def read_audit(folder: Path) -> FinishedAudit:
    """The finished audit in a folder, with its saved tables."""
    store = Store(folder)
    parts = [
        AuditedPart(
            saved["name"],
            saved["about"],
            [store.load(folder / place) for place in saved["results"]],
            saved["left_out"],
        )
        for saved in read_record(folder)["parts"]
    ]
    return FinishedAudit(folder, parts)


def read_record(folder: Path) -> dict[str, Any]:
    """The settings, parts and result folders of the finished audit in a folder."""
    try:
        record: dict[str, Any] = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        for saved in record["parts"]:
            _ = saved["name"], saved["about"], saved["results"], saved["left_out"]
    except (FileNotFoundError, NotADirectoryError) as error:
        raise BadData(
            f"{folder} holds no finished audit (no {RECORD}); expected the folder that `whence audit --out` wrote. If"
            " an audit was interrupted, run it again: it resumes where it stopped"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise BadData(f"{folder / RECORD} is damaged ({error!r}); run the audit again") from error
    return record
