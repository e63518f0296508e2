"""What past audits found, for the pages: results with their verdicts and tables, and what is known of single heads."""

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from whence.core.errors import WhenceError
from whence.figures.style import as_svg
from whence.results.result import Result
from whence.results.store import Store
from whence.results.verdict import QUESTIONS, Effect, Verdict
from whence.workbench.audits import Audits, UnknownAudit
from whence.workbench.bench import Served

DRAWING = threading.Lock()  # matplotlib's settings are global


@dataclass(eq=False)
class Findings:
    """The results of all audits in the folder, each read once."""

    audits: Audits
    _read: dict[Path, Result] = field(default_factory=dict)

    def folders(self) -> dict[str, tuple[str, Path]]:
        """The folder of each result, and its audit, by the key that is the folder's name."""
        return {
            one.name: (name, one)
            for name, folder in self.audits.folders().items()
            for one in sorted((Store(folder).root / "results").glob("*/*"))
            if re.fullmatch(r"[0-9a-f]{12}", one.name)
        }

    def result(self, key: str) -> Result:
        """A result by its key, which is looked up in the list and never used as a path."""
        if key not in (there := self.folders()):
            raise UnknownAudit(f"there is no result {key[:40]!r} in the folder")
        folder = there[key][1]
        if folder not in self._read:
            self._read[folder] = Store(folder).load(folder)
        return self._read[folder]

    def all(self) -> list[dict[str, Any]]:
        """Every result: its experiment, audit, number of rows, and verdict."""
        rows = []
        for key, (audit, folder) in self.folders().items():
            row: dict[str, Any] = {"key": key, "audit": audit, "experiment": folder.parent.name, "verdict": None}
            try:
                result = self.result(key)
                verdict = result.verdict()
            except WhenceError as error:
                rows.append({**row, "error": str(error)})
                continue
            judged = {"verdict": verdict.answer, "question": verdict.question, "sentence": verdict.sentence}
            effects = [asdict(effect) for effect in verdict.effects]
            made = {"rows": len(result.table), "made": result.manifest.get("made"), "effects": effects}
            rows.append({**row, "experiment": result.experiment, "verdict": judged, **made})
        return rows

    def csv(self, key: str) -> str:
        """The table of a result."""
        return self.result(key).table.to_csv(index=False, lineterminator="\n")

    def svg(self, key: str) -> str:
        """The figure of a result."""
        with DRAWING:
            return as_svg(self.result(key).figure())

    def verdicts(self, served: Served, stacks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """What the newest audit of a model found: overall, on each question, and of each head that was measured."""
        own = [row for row in self.audits.all() if row["state"] == "finished" and self._is_of(row["name"], served)]
        if not own:
            return {"overall": None, "questions": [], "heads": {}}
        finished = self.audits.finished(own[0]["name"])
        part = finished.parts[0]
        answer = finished.answers[part.name]
        questions = [_question(verdict) for verdict in part.verdicts.values()]
        heads = head_findings(part.results, stacks)
        overall = {"answer": answer.word, "sentence": answer.sentence, "audit": own[0]["name"]}
        return {"overall": overall, "questions": questions, "heads": heads}

    def _is_of(self, name: str, served: Served) -> bool:
        """Whether an audit is of this very model, by its weights."""
        results = [result for part in self.audits.finished(name).parts for result in part.results]
        made_of = {result.manifest.get("subject", {}).get("fingerprint") for result in results}
        return served.subject.fingerprint in made_of


def _question(verdict: Verdict) -> dict[str, Any]:
    return {"question": QUESTIONS[verdict.question], "verdict": verdict.answer, "sentence": verdict.sentence}


def head_findings(results: Sequence[Result], stacks: Sequence[Mapping[str, Any]]) -> dict[str, list[list[Any]]]:
    """By stack, layer and head what is lost without that head, with its interval; None where it was not measured."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for result in results:
        if result.experiment == "representation_erasure":
            found |= _erased_heads(result)
    return {
        stack["id"]: [
            [found.get((site, head)) for head in range(n)]
            for site, n in zip(stack["sites"], stack["heads"], strict=True)
        ]
        for stack in stacks
    }


def _erased_heads(result: Result) -> dict[tuple[str, int], dict[str, Any]]:
    """What is lost without each head (`representation_erasure`), over all texts."""
    from whence.experiments.representation_erasure import SMALLEST

    table = result.table
    rows = table[(table["erased"] == "heads") & (table["label"] == "")]
    found = {}
    for row in rows.to_dict("records"):
        effect = Effect(
            "log_likelihood_lost",
            "log-likelihood lost without this head",
            float(row["lost"]),
            float(row["lost_low"]),
            float(row["lost_high"]),
            "nats",
            SMALLEST,
            int(row["texts"]),
        )
        answer, sentence = effect.judge(
            "The prediction needs this head: without it the labels become less likely.",
            "The prediction does not need this head: without it the labels stay as likely.",
            "Whether the prediction needs this head is undecided.",
        )
        if effect.too_few:
            answer, sentence = "undecided", effect.too_few
        shown = {"verdict": answer, "effect": effect.value, "low": effect.low, "high": effect.high}
        found[str(row["place"]), int(row["part"])] = {**shown, "unit": "nats", "sentence": sentence}
    return found
