"""Plain tables: `items.csv` with an empty column for the answer, to be filled in a spreadsheet by each annotator."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from whence.annotation.answers import Answer
from whence.annotation.formats import Format
from whence.annotation.formats.files import annotator_name, files_in, write_text
from whence.annotation.spans import joined, spans, with_marks, words_within
from whence.annotation.study import Item, Study
from whence.annotation.tasks import SKIP
from whence.core.errors import BadData

COLUMNS = ("item", "annotator", "prediction", "text", "answer", "marked", "seconds", "at")


def write(study: Study, folder: Path) -> list[Path]:
    """`items.csv`: highlighted words stand in «angles»."""
    rows = [{"item": item.id, "prediction": item.prediction, "text": shown(item)} for item in study.items]
    return [write_text(folder / "items.csv", _table(rows))]


def shown(item: Item) -> str:
    """The text, or both versions below each other."""
    return "\n\n".join(with_marks(item, panel, "«", "»") for panel in item.panels) or joined(item)


def write_answers(study: Study, answers: dict[str, dict[str, Answer]], path: Path) -> Path:
    """All answers that count as one table, marked words as offsets start-end in the joined text."""
    rows = [
        {
            "item": one.item,
            "annotator": name,
            "answer": one.answer,
            "marked": " ".join("{}-{}".format(*spans(study.item(one.item))[place]) for place in one.marked),
            "seconds": "" if one.seconds is None else repr(one.seconds),
            "at": one.at,
        }
        for name, given in answers.items()
        for one in given.values()
    ]
    return write_text(path, _table(rows))


def _table(rows: Sequence[dict[str, str]]) -> str:
    """Rows as CSV; a cell that a spreadsheet would run as a formula begins with an apostrophe."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: f"'{cell}" if cell[:1] in "=+@\t" and cell else cell for name, cell in row.items()} for row in rows
    )
    return text.getvalue()


def read(study: Study, paths: Sequence[Path]) -> dict[str, list[Answer]]:
    """The answers in filled tables; a table without names is its file's annotator's. Empty answers are left out."""
    found: dict[str, list[Answer]] = {}
    for path in files_in(paths, "*.csv"):
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        for number, row in enumerate(rows, start=2):
            if not row.get("item") or "answer" not in row:
                raise BadData(f"{path}, line {number} has no item or no column answer; expected the exported table")
            if row["answer"] or row.get("marked"):
                mine = found.setdefault(annotator_name(row.get("annotator") or path.stem), [])
                mine.append(answer(study, study.item(row["item"]), row, f"{path}, line {number}"))
    return found


def answer(study: Study, item: Item, row: dict[str, str], where: str) -> Answer:
    """One line as an answer."""
    try:
        marked = [tuple(map(int, span.split("-"))) for span in (row.get("marked") or "").split()]
        seconds = float(row["seconds"]) if row.get("seconds") else None
    except ValueError as error:
        raise BadData(f"{where}: expected numbers for marked (start-end) and seconds: {error}") from error
    given = row["answer"].strip().lower() or ("marked" if marked else SKIP)
    return Answer(item.id, given, words_within(item, marked), seconds, row.get("at") or "")


FORMAT = Format("items.csv, to be filled in a spreadsheet", write, read)
