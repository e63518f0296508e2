"""Argilla: records with a label question (of marked words a span question), and the dataset's settings.

Records have the form that `dataset.records.to_json` writes: id, fields, metadata, suggestions, responses by question,
each response with its value, user and status. `settings.json` is what `rg.Settings.from_json` reads.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from whence.annotation.answers import Answer
from whence.annotation.formats import Format
from whence.annotation.formats.files import annotator_name, files_in, read_json, write_text
from whence.annotation.spans import joined, with_marks, words_within
from whence.annotation.study import Item, Study
from whence.annotation.tasks import SKIP
from whence.core.errors import BadData

QUESTION, DECIDES = "answer", "decides"
FIELDS = {1: ("text",), 2: ("first", "second"), 0: ("text",)}


def write(study: Study, folder: Path) -> list[Path]:
    """`records.json` and `settings.json`."""
    records = [record(study, item) for item in study.items]
    return [
        write_text(folder / "records.json", json.dumps(records, ensure_ascii=False, indent=1)),
        write_text(folder / "settings.json", json.dumps(settings(study), ensure_ascii=False, indent=1)),
    ]


def record(study: Study, item: Item) -> dict[str, Any]:
    """One record. Highlighted words are bold: fields are shown as Markdown."""
    names = FIELDS[study.asks.panels]
    shown = [with_marks(item, panel, "**", "**") for panel in item.panels] or [joined(item)]
    fields = {"prediction": item.prediction, **dict(zip(names, shown, strict=True))}
    return {"id": item.id, "fields": fields, "metadata": {}, "suggestions": {}, "responses": {}, "vectors": {}}


def settings(study: Study) -> dict[str, Any]:
    """The fields and the question."""
    names = FIELDS[study.asks.panels]
    fields = [
        {
            "name": name,
            "title": name.capitalize(),
            "required": True,
            "settings": {"type": "text", "use_markdown": marked},
        }
        for name, marked in [("prediction", False), *((one, bool(study.asks.panels)) for one in names)]
    ]
    choices = [{"value": one, "text": one, "description": None} for one in study.asks.choices or {DECIDES: ""}]
    asked = (
        {"type": "label_selection", "options": choices, "visible_options": None}
        if study.asks.choices
        else {"type": "span", "field": "text", "options": choices, "allow_overlapping": False, "visible_options": None}
    )
    question = {"name": QUESTION, "title": study.asks.question, "required": True, "settings": asked}
    return {
        "guidelines": "\n\n".join(study.asks.instructions),
        "allow_extra_metadata": False,
        "fields": fields,
        "questions": [question],
        "metadata": [],
        "vectors": [],
    }


def read(study: Study, paths: Sequence[Path]) -> dict[str, list[Answer]]:
    """The submitted and discarded responses, by user; a discarded record is a skipped item."""
    found: dict[str, list[Answer]] = {}
    for path in files_in(paths, "records.json"):
        for one in read_json(path):
            try:
                item = study.item(str(one["id"]))
                for response in (one.get("responses") or {}).get(QUESTION, ()):
                    if response.get("status") != "draft":
                        who = annotator_name(response["user_id"])
                        found.setdefault(who, []).append(answer(study, item, response))
            except (KeyError, TypeError, AttributeError) as error:
                raise BadData(
                    f"{path} holds a record without {error}; export with `dataset.records.to_json`"
                ) from error
    return found


def answer(study: Study, item: Item, response: dict[str, Any]) -> Answer:
    """One response as an answer; Argilla exports no times."""
    value = response.get("value")
    if response.get("status") == "discarded" or value is None:
        return Answer(item.id, SKIP)
    if study.asks.choices:
        return Answer(item.id, str(value))
    return Answer(item.id, "marked", words_within(item, [(span["start"], span["end"]) for span in value]))


FORMAT = Format("records.json and settings.json for an Argilla dataset", write, read)
