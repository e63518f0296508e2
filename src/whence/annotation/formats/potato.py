"""Potato (Pei et al. 2022): a configuration, the items, and the instructions; each annotator's `user_state.json` back.

https://potatoannotator.readthedocs.io gives the fields: `instance_id_to_label_to_value` holds for each item and scheme
the labels that are set, `instance_id_to_span_to_value` the marked spans.
"""

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from whence.annotation.answers import Answer
from whence.annotation.formats import Format
from whence.annotation.formats.files import annotator_name, files_in, only, read_json, write_jsonl, write_text
from whence.annotation.spans import joined, with_marks, words_within
from whence.annotation.study import Item, Study
from whence.annotation.tasks import SKIP
from whence.core.errors import BadData

SCHEME, DECIDES = "answer", "decides"
STATE = "user_state.json"


def write(study: Study, folder: Path) -> list[Path]:
    """`config.yaml` (JSON is YAML) and `items.jsonl`."""
    rows = [{"id": item.id, "text": shown(study, item)} for item in study.items]
    return [
        write_text(folder / "config.yaml", json.dumps(config(study), ensure_ascii=False, indent=1) + "\n"),
        write_jsonl(folder / "items.jsonl", rows),
    ]


def shown(study: Study, item: Item) -> str:
    """What Potato shows: HTML with highlighted words; a text to be marked stays as it is, so that offsets hold."""
    if not study.asks.panels:
        return joined(item)
    plain = Item(item.id, tuple(tuple(escape(word) for word in text) for text in item.texts), "", item.panels)
    texts = [with_marks(plain, panel, "<mark>", "</mark>").replace("\n\n", "<br><br>") for panel in item.panels]
    numbered = texts if len(texts) == 1 else [f"<b>{n}</b> {text}" for n, text in enumerate(texts, start=1)]
    return "<br><br>".join([f"Prediction: <b>{escape(item.prediction)}</b>", *numbered])


def config(study: Study) -> dict[str, Any]:
    """The configuration of the task."""
    choices = [{"name": one, "key_value": key} for one, key in {**study.asks.choices, SKIP: "s"}.items()]
    scheme = (
        {"annotation_type": "radio", "labels": choices}
        if study.asks.choices
        else {"annotation_type": "span", "labels": [DECIDES]}
    )
    return {
        "annotation_task_name": "Human evaluation of highlighted words",
        "task_dir": ".",
        "data_files": ["items.jsonl"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "output_annotation_dir": "annotation_output/",
        "export_annotation_format": "jsonl",
        "annotation_schemes": [{"name": SCHEME, "description": study.asks.question, **scheme}],
        "assignment_strategy": "fixed_order",
    }


def read(study: Study, paths: Sequence[Path]) -> dict[str, list[Answer]]:
    """The answers in the annotators' states."""
    found: dict[str, list[Answer]] = {}
    for path in files_in(paths, STATE):
        state = read_json(path)
        try:
            labels, marked = (state.get(f"instance_id_to_{one}_to_value", {}) for one in ("label", "span"))
            mine = found.setdefault(annotator_name(state["user_id"]), [])
            for name in dict.fromkeys([*labels, *marked]):
                item = study.item(str(name))
                mine.append(answer(study, item, labels.get(name, {}), marked.get(name, {}), str(path)))
        except (KeyError, TypeError, AttributeError) as error:
            raise BadData(f"{path} is not the state of an annotator of this study: no {error}") from error
    return found


def answer(study: Study, item: Item, labels: dict[str, Any], marked: dict[str, Any], where: str) -> Answer:
    """The labels that are set, or the marked spans, as an answer."""
    if study.asks.choices:
        given = labels.get(SCHEME, {})
        chosen = [
            str(name) for name, is_set in given.get("labels", given).items() if is_set not in (False, "false", None)
        ]
        return Answer(item.id, only(chosen, item.id, where))
    words = words_within(item, [(one["start"], one["end"]) for one in marked.get(SCHEME, ())])
    return Answer(item.id, "marked" if words else SKIP, words)


FORMAT = Format("config.yaml and items.jsonl for Potato", write, read)
