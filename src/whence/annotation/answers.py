"""Annotators' answers: one append-only file each, on disk before the next item is shown.

A line is written whole and flushed to the disk (fsync) before `append` returns, so killing the process loses no answer
that was acknowledged. A line that was cut off, which was never acknowledged, is dropped when the file is opened
again. A changed answer is a later line; the last one counts, the others stay as history.
"""

import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock

from whence.annotation.study import Place, Study
from whence.annotation.tasks import SKIP
from whence.core.errors import BadConfig, BadData
from whence.results.atomic_write import saving

FOLDER = "answers"
SYNTHETIC = "synthetic-"  # what the names of synthetic annotators begin with, and nobody else's
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


@dataclass(frozen=True)
class Answer:
    """One answer to one item: a choice of the task, `skip`, or for a marking the marked words. `seconds` is how long
    the item was shown, if known; `at` when it was answered.
    """

    item: str
    answer: str
    marked: tuple[Place, ...] = ()
    seconds: float | None = None
    at: str = ""


def now() -> str:
    """The time in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def refuse_name(name: str, *, synthetic: bool = False) -> None:
    """Refuse names that cannot name a file, and real annotators with the name of a synthetic one."""
    if not NAME.fullmatch(name):
        raise BadConfig(
            f"an annotator's name has 1 to 40 letters, digits, dots, dashes or underscores, got {name!r}; use initials"
        )
    if name.startswith(SYNTHETIC) != synthetic:
        raise BadConfig(f"names that begin with {SYNTHETIC!r} are those of synthetic annotators alone, got {name!r}")


def refuse_answer(study: Study, answer: Answer) -> None:
    """Refuse answers that do not fit the study: another item, another choice, words that are not there."""
    item = study.item(answer.item)
    allowed = [*study.asks.choices, SKIP] if study.asks.choices else ["marked", SKIP]
    if answer.answer not in allowed:
        raise BadData(f"expected one of {', '.join(allowed)} as the answer to {item.id}, got {answer.answer!r}")
    wrong = [p for p in answer.marked if not (0 <= p[0] < len(item.texts) and 0 <= p[1] < len(item.texts[p[0]]))]
    if wrong or (answer.marked and answer.answer != "marked"):
        raise BadData(f"the answer to {item.id} marks words that cannot be marked: {(wrong or answer.marked)[0]}")
    if answer.seconds is not None and not 0 <= answer.seconds < float("inf"):
        raise BadData(f"the answer to {item.id} took {answer.seconds} seconds; expected a number from 0 on")


class AnswerFile:
    """The answers of one annotator, at `study/answers/NAME.jsonl`; its first line says to which study they belong."""

    def __init__(self, folder: Path, study: Study, annotator: str, *, synthetic: bool = False) -> None:
        refuse_name(annotator, synthetic=synthetic)
        self.path, self.study, self.annotator = folder / FOLDER / f"{annotator}.jsonl", study, annotator
        self.header = {"study": study.checksum, "annotator": annotator, "synthetic": synthetic}

    def append(self, answers: Iterable[Answer]) -> None:
        """Add answers; when this returns they are on the disk."""
        new = list(answers)
        for one in new:
            refuse_answer(self.study, one)
        with saving(self.path.parent, "a copy of the study"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(self.path.with_suffix(".lock")), self.path.open("a+b") as file:
                if not self._mend(file):
                    file.write(_line(self.header))
                file.write(b"".join(_line(asdict(one)) for one in new))
                file.flush()
                os.fsync(file.fileno())

    def _mend(self, file: Any) -> bool:
        """Cut off an unfinished last line; whether a header is there."""
        file.seek(0)
        whole = file.read()
        kept = whole[: whole.rfind(b"\n") + 1]
        if len(kept) < len(whole):
            file.truncate(len(kept))
        if kept:
            self._refuse_other(kept.split(b"\n", 1)[0])
        return bool(kept)

    def _refuse_other(self, first: bytes) -> None:
        if json.loads(first) != self.header:
            raise BadData(
                f"{self.path} holds answers to another study, or of another annotator; move it away and run again"
            )

    def history(self) -> list[Answer]:
        """Every answer in the order it was given, changed ones too."""
        if not self.path.exists():
            return []
        lines = self.path.read_bytes().split(b"\n")[:-1]  # what follows the last line break is unfinished
        try:
            self._refuse_other(lines[0] if lines else _line(self.header))
            found = [_answer(json.loads(line)) for line in lines[1:]]
            for one in found:
                refuse_answer(self.study, one)
        except (ValueError, KeyError, TypeError) as error:
            raise BadData(f"{self.path} is damaged: {error}") from error
        return found

    def latest(self) -> dict[str, Answer]:
        """The answer that counts for each item that has one."""
        return {one.item: one for one in self.history()}


def read_answers(folder: Path, study: Study) -> dict[str, dict[str, Answer]]:
    """The answers that count, by annotator and item."""
    names = sorted(path.stem for path in (folder / FOLDER).glob("*.jsonl"))
    files = {name: AnswerFile(folder, study, name, synthetic=name.startswith(SYNTHETIC)) for name in names}
    return {name: file.latest() for name, file in files.items()}


def places(listed: Sequence[Sequence[int]]) -> tuple[Place, ...]:
    """Places of words from JSON, in reading order, each once."""
    return tuple(sorted({(int(text), int(word)) for text, word in listed}))


def _answer(saved: dict[str, Any]) -> Answer:
    return Answer(saved["item"], saved["answer"], places(saved["marked"]), saved["seconds"], saved["at"])


def _line(content: dict[str, Any]) -> bytes:
    return json.dumps(content, ensure_ascii=False).encode() + b"\n"
