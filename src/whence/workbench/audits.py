"""Audits of the workbench: each in a folder of its own, run by a process that can be stopped and resumes."""

import re
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from whence.auditing.audited import RECORD, REPORT, FinishedAudit, read_audit
from whence.auditing.settings import Settings
from whence.core.errors import BadConfig, BadData
from whence.results.atomic_write import saving, write_json
from whence.results.experiment import EXPERIMENTS
from whence.results.verdict import QUESTIONS
from whence.workbench.audit_runs import run_process
from whence.workbench.bench import Served, Workbench
from whence.workbench.jobs import Job
from whence.workbench.operations.requests import NAME, Asked

SETTINGS = "settings.json"


class Conflict(BadConfig):
    """An audit is under way already."""


class AuditRequest(Asked):
    """An audit of a model that is served, on the corpus that is open. The same request again resumes it."""

    model: str = Field("", max_length=NAME)
    budget: float = Field(10.0, gt=0, le=10_000, description="minutes to spend")
    force: bool = Field(False, description="run even if the budget is too small for a sensible audit")
    granularity: Literal["all", "layer", "head"] = "all"
    skip: tuple[str, ...] = Field((), max_length=30)
    experiments: tuple[str, ...] = Field((), max_length=30)
    seed: int = Field(0, ge=0, le=2**31)

    def folder_name(self, model: str) -> str:
        """A name for its folder, made of what was asked: the same request has the same folder."""
        parts = [model, f"{self.budget:g}-minutes", *([] if self.granularity == "all" else [f"by-{self.granularity}"])]
        parts += [f"without-{name}" for name in self.skip] + [f"with-{name}" for name in self.experiments]
        parts += [f"seed-{self.seed}"] * bool(self.seed)
        return re.sub(r"[^\w.-]+", "-", "-".join(parts)).strip(".")[:120]


@dataclass(eq=False)
class Audits:
    """The audits in the workbench's folder."""

    bench: Workbench
    running: dict[str, Job] = field(default_factory=dict)
    _read: dict[tuple[Path, float], FinishedAudit] = field(default_factory=dict)
    _lock: Any = field(default_factory=threading.Lock)

    def start(self, request: AuditRequest) -> Job:
        """Start or resume an audit; one at a time, since each takes all the time it has."""
        served = self.bench.model(request.model)
        self._refuse(request, served)
        name = request.folder_name(served.id)
        settings = self._settings(request, served, self.bench.folder / name)
        with self._lock:
            busy = next((job for job in self.running.values() if not job.finished), None)
            if busy is not None:
                raise Conflict(f"an audit is under way ({busy.about['name']}); stop it first, or wait for its end")
            with saving(settings.out):
                settings.out.mkdir(parents=True, exist_ok=True)
                write_json(settings.out / SETTINGS, request.model_dump(mode="json"))
            job = run_process(settings, name, served)
            self.running[name] = self.bench.jobs.add(job)
        return job

    def _refuse(self, request: AuditRequest, served: Served) -> None:
        """Refuse what an audit cannot be asked for: only installed experiments, and data that the user named."""
        if self.bench.corpus is None:
            raise BadConfig("no corpus is open; start the workbench with one: whence serve MODEL DATA")
        unknown = [name for name in (*request.experiments, *request.skip) if name not in EXPERIMENTS.names()]
        if unknown:
            raise BadConfig(f"no experiment {unknown[0][:80]!r}; choose from: {', '.join(EXPERIMENTS.names())}")

    def _settings(self, request: AuditRequest, served: Served, out: Path) -> Settings:
        given = request.model_dump(exclude={"model"})
        own = {name: value for name, value in self.bench.settings.items() if value is not None}
        return Settings(model=served.subject.name, data=self.bench.data, out=out, **given, **own)

    def folders(self) -> dict[str, Path]:
        """The audits that are there, finished or not, by name; also one in the folder itself, by the folder's name."""
        root = self.bench.folder
        inside = sorted(root.iterdir()) if root.is_dir() else []
        found = {one.name: one for one in inside if (one / RECORD).is_file() or (one / SETTINGS).is_file()}
        own = {root.resolve().name: root} if (root / RECORD).is_file() else {}
        return {**found, **own}

    def finished(self, name: str) -> FinishedAudit:
        """A finished audit by its name, which is looked up in the list and never used as a path."""
        folder = self.folders().get(name)
        if folder is None:
            raise UnknownAudit(f"there is no audit {name[:80]!r} in the folder")
        record = folder / RECORD
        if not record.is_file():
            raise UnknownAudit(f"the audit {name} is not finished; start it again to resume it")
        key = folder, record.stat().st_mtime
        if key not in self._read:
            self._read[key] = read_audit(folder)
        return self._read[key]

    def report(self, name: str) -> Path:
        """The report of a finished audit."""
        path = self.finished(name).folder / REPORT
        if not path.is_file():
            raise UnknownAudit(f"the report of {name} is not there; write it again: whence report FOLDER")
        return path

    def all(self) -> list[dict[str, Any]]:
        """Every audit, the newest first: its answer and verdicts, or how far it got."""
        found = [self._row(name, folder) for name, folder in self.folders().items()]
        return sorted(found, key=lambda row: str(row["date"]), reverse=True)

    def _row(self, name: str, folder: Path) -> dict[str, Any]:
        running = name in self.running and not self.running[name].finished
        if not (folder / RECORD).is_file() or running:
            state = "running" if running else "interrupted"
            return {"name": name, "date": _date(folder), "state": state, "answer": state, "verdicts": []}
        try:
            finished = self.finished(name)
        except BadData as error:
            row = {"name": name, "date": _date(folder), "state": "damaged", "answer": "damaged", "verdicts": []}
            return {**row, "error": str(error)}
        verdicts = [
            {
                "question": one.question,
                "title": QUESTIONS[one.question],
                "verdict": one.answer,
                "sentence": one.sentence,
            }
            for part in finished.parts
            for one in part.verdicts.values()
        ]
        answers = [answer.word for answer in finished.answers.values()]
        row = {"name": name, "date": _date(folder), "state": "finished", "answer": ", ".join(answers)}
        return {**row, "verdicts": verdicts, "parts": list(finished.answers)}


class UnknownAudit(BadData, KeyError):
    """An audit or result was asked for that is not there."""

    def __str__(self) -> str:
        return str(self.args[0])


def _date(folder: Path) -> str:
    there = [path for path in (folder / RECORD, folder / SETTINGS) if path.is_file()]
    return datetime.fromtimestamp(there[0].stat().st_mtime, UTC).isoformat(timespec="seconds") if there else ""
