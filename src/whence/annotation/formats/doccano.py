"""doccano: a project for intent detection and slot filling, which has both highlighted words and a label; marked words
are a project for sequence labelling. One `USERNAME.jsonl` for each annotator comes back.

Lines have `text`, `entities` ([[start, end, label]]) and `cats`; of sequence labelling `text` and `label`. Further
fields come back as they went in, so `item` identifies the item.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from whence.annotation.answers import Answer
from whence.annotation.formats import Format
from whence.annotation.formats.files import annotator_name, files_in, only, read_jsonl, write_jsonl, write_text
from whence.annotation.spans import joined, spans, words_within
from whence.annotation.study import Item, Place, Study
from whence.annotation.tasks import SKIP
from whence.core.errors import BadData

TOP, DECIDES = "top", "decides"
PROJECT = {True: "Intent Detection and Slot Filling", False: "Sequence Labeling"}
FIRST, SECOND = "1: ", "2: "


def write(study: Study, folder: Path) -> list[Path]:
    """`items.jsonl`, to be imported, and `labels.txt`, which says how to set up the project."""
    chosen = bool(study.asks.choices)
    labels = [
        f"Project type: {PROJECT[chosen]}",
        f"Question for the guideline: {study.asks.question}",
        f"Categories: {', '.join([*study.asks.choices, SKIP])}" if chosen else f"No span at all: {SKIP}",
        f"Span types: {TOP if chosen else DECIDES}",
    ]
    items = write_jsonl(folder / "items.jsonl", [line(study, item) for item in study.items])
    return [items, write_text(folder / "labels.txt", "\n".join([*labels, ""]))]


def line(study: Study, item: Item) -> dict[str, Any]:
    """One item; of a preference both versions below each other."""
    text, own = joined(item), spans(item)
    entities: list[list[Any]] = [[*own[place], TOP] for panel in item.panels[:1] for place in panel]
    if study.asks.panels == 2:
        shift = len(FIRST)
        entities = [[start + shift, end + shift, TOP] for start, end, _ in entities]
        shift += len(text) + 2 + len(SECOND)
        entities += [[own[place][0] + shift, own[place][1] + shift, TOP] for place in item.panels[1]]
        text = f"{FIRST}{text}\n\n{SECOND}{text}"
    about = {"item": item.id, "prediction": item.prediction}
    if study.asks.choices:
        return {"text": text, "entities": entities, "cats": [], **about}
    return {"text": text, "label": [], **about}


def read(study: Study, paths: Sequence[Path]) -> dict[str, list[Answer]]:
    """The answers in exported files, each named after its annotator."""
    found: dict[str, list[Answer]] = {}
    for path in files_in(paths, "*.jsonl"):
        mine = found.setdefault(annotator_name(path.stem), [])
        for number, row in read_jsonl(path):
            if "item" not in row:
                raise BadData(f"{path}, line {number} has no field item; export the project whose items were imported")
            mine.append(answer(study, study.item(str(row["item"])), row, f"{path}, line {number}"))
    return found


def answer(study: Study, item: Item, row: dict[str, Any], where: str) -> Answer:
    """One line as an answer; doccano knows no times."""
    if study.asks.choices:
        return Answer(item.id, only([str(one) for one in row.get("cats", ())], item.id, where))
    spans_of: list[Any] = row.get("label", [])
    marked: tuple[Place, ...] = words_within(item, spans_of)
    return Answer(item.id, "marked" if marked else SKIP, marked)


FORMAT = Format("items.jsonl and labels.txt for a doccano project", write, read)
