"""A finished audit: its tables and verdicts, each loaded and computed once. No model, no torch."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from whence.analysis.gates import why_at_chance
from whence.auditing.combine_verdicts import combine
from whence.core.errors import BadData
from whence.report.overall_answer import Answer, answer
from whence.report.page_model import TextExample
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
    examples: Sequence[TextExample] = ()
    recorded_notes: Sequence[str] | None = None  # of the audit; a saved table may have those of another one

    @cached_property
    def by_experiment(self) -> Mapping[str, Verdict]:
        """The verdict of each experiment; all undecided where one of their tables shows a model at chance."""
        found = {result.experiment: result.verdict() for result in self.results}
        why = next(filter(None, (_at_chance(result.table) for result in self.results)), "")
        return {name: _undecided(one, why) for name, one in found.items()} if why else found

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
        if self.recorded_notes is not None:
            return list(self.recorded_notes)
        of_results = [note for result in self.results for note in result.manifest.get("notes", [])]
        return [*dict.fromkeys([*of_results, *self.left_out])]


def _at_chance(table: pd.DataFrame) -> str:
    """A sentence, if a table shows that the model's predictions are not clearly better than chance."""
    if not {"example", "correct", "chance"} <= set(table):
        return ""
    each = table[table["example"] >= 0].drop_duplicates("example")
    return why_at_chance(each["correct"], each["chance"])


def _undecided(verdict: Verdict, why: str) -> Verdict:
    return verdict if verdict.answer == "undecided" else replace(verdict, answer="undecided", sentence=why, advice="")


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
    def answers(self) -> dict[str, Answer]:
        """Whether the attention is an explanation, in one sentence for each part."""
        return {part.name: answer(part.verdicts) for part in self.parts}

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
            [TextExample(**one) for one in saved.get("examples", ())],
            saved.get("notes"),
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
