"""One case, made, proved, audited and recorded."""

import hashlib
import json
import time
import traceback
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from whence.calibration.case import HEADLINE, Case
from whence.calibration.kinds import KINDS
from whence.calibration.questions import DECIDING, audited
from whence.calibration.rules import rules_fingerprint
from whence.calibration.variants import VARIANTS
from whence.core.errors import BadData
from whence.report.overall_answer import answer
from whence.results.atomic_write import saving, write_json
from whence.results.to_json import plain

Record = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """Which case to run: a kind, its seed and number of texts, and a change that should not matter, if any."""

    kind: str
    seed: int
    n: int
    variant: str = ""

    @property
    def name(self) -> str:
        """The name of its record."""
        changed = f"-{self.variant.replace(' ', '-')}" if self.variant else ""
        return f"{self.kind}-n{self.n}-seed{self.seed}{changed}"

    def make(self) -> Case:
        """The case, with its proof."""
        case = KINDS[self.kind].make(self.seed, self.n)
        return VARIANTS[self.variant](case) if self.variant else case

    def key(self, questions: Sequence[int]) -> str:
        """What its record rests on: the job, the experiments and their options, and the code of the rules."""
        asking = {number: [asdict(one) for one in DECIDING.get(number, ())] for number in questions}
        made_of = json.dumps([asdict(self), asking, rules_fingerprint()], sort_keys=True, default=str)
        return hashlib.sha256(made_of.encode()).hexdigest()


def run(job: Job, questions: Sequence[int], folder: Path, save: bool = False) -> Record:
    """The record of a case: from the folder if it was run before with the same rules."""
    path = folder / "cases" / f"{job.name}.json"
    known = saved(path)
    key = job.key(questions)
    if known is not None and known["key"] == key and not known["error"]:
        return known
    record = {"key": key, **run_now(job, questions, folder / "models" / job.name if save else None)}
    with saving(folder):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, record)
    return record


def saved(path: Path) -> Record | None:
    """A record that was written before."""
    if not path.exists():
        return None
    try:
        record: Record = json.loads(path.read_text(encoding="utf-8"))
        _ = record["key"], record["error"]
    except (ValueError, KeyError, TypeError) as error:
        raise BadData(f"the record {path} is damaged ({error!r}); delete that file and run again") from error
    return record


def run_now(job: Job, questions: Sequence[int], save_to: Path | None = None) -> Record:
    """Make the case and audit it; an error is recorded, so that one case does not stop the others."""
    started = time.process_time()
    record: Record = {**asdict(job), "family": KINDS[job.kind].family, "error": "", "known": {}, "verdicts": {}}
    try:
        case = job.make()
        made = time.process_time()
        if save_to is not None:
            case.save(save_to)
        record |= {"known": {str(number): known for number, known in case.answers.items()}, **outcome(case, questions)}
        record["proof"] = plain([asdict(claim) for claim in case.proof])
        record["seconds"] = {"making": round(made - started, 2), "auditing": round(time.process_time() - made, 2)}
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        record["error"] = f"{type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno})"
    return record


def outcome(case: Case, questions: Sequence[int]) -> Record:
    """The verdict on every question that was asked, and the overall answer."""
    verdicts = audited(case, questions).verdicts
    found = {
        str(number): {"answer": one.answer, "sentence": one.sentence, "effects": plain(list(one.effects))}
        for number, one in verdicts.items()
    }
    overall = answer(verdicts)
    found[str(HEADLINE)] = {"answer": overall.word, "sentence": overall.sentence, "effects": []}
    return {"verdicts": found}
