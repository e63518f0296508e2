"""Label Studio: tasks with highlighted words as predictions and the labelling configuration; annotated tasks back.

https://labelstud.io/guide/task_format and https://labelstud.io/guide/predictions give the fields. A skipped task has
`was_cancelled`; `lead_time` is the time in seconds.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from whence.annotation.answers import Answer
from whence.annotation.formats import Format
from whence.annotation.formats.files import annotator_name, files_in, only, read_json, write_text
from whence.annotation.spans import joined, spans, words_within
from whence.annotation.study import Item, Place, Study
from whence.annotation.tasks import SKIP
from whence.core.errors import BadData

ANSWER, MARKS, TOP, DECIDES = "answer", "marks", "top", "decides"
PANELS = {1: ("text",), 2: ("first", "second"), 0: ("text",)}


def write(study: Study, folder: Path) -> list[Path]:
    """`tasks.json`, to be imported, and `config.xml`, the labelling interface."""
    tasks = [task(study, item) for item in study.items]
    return [
        write_text(folder / "tasks.json", json.dumps(tasks, ensure_ascii=False, indent=1)),
        write_text(folder / "config.xml", config(study)),
    ]


def task(study: Study, item: Item) -> dict[str, Any]:
    """One task: its texts, and the highlighted words as a prediction."""
    names = PANELS[study.asks.panels]
    data = {"id": item.id, **dict.fromkeys(names, joined(item)), "prediction": item.prediction}
    results = [
        region(item, place, f"top{study.about['top']}" if len(names) == 1 else f"top_{name}", name)
        for name, panel in zip(names, item.panels, strict=False)
        for place in panel
    ]
    return {"data": data, "predictions": [{"model_version": "highlights", "result": results}] if results else []}


def region(item: Item, place: Place, control: str, shown: str, label: str = TOP) -> dict[str, Any]:
    """One labelled word."""
    start, end = spans(item)[place]
    value = {"start": start, "end": end, "text": joined(item)[start:end], "labels": [label]}
    return {
        "id": f"{shown}-{place[0]}-{place[1]}",
        "from_name": control,
        "to_name": shown,
        "type": "labels",
        "value": value,
    }


def config(study: Study) -> str:
    """The labelling interface: the question, the prediction, the text with its highlights, and the choices."""
    names = PANELS[study.asks.panels]
    lines = [
        "<View>",
        f"  <Header value={quoteattr(study.asks.question)}/>",
        '  <Header value="Prediction: $prediction"/>',
    ]
    for name in names:
        marking = not study.asks.choices
        control = MARKS if marking else f"top{study.about['top']}" if len(names) == 1 else f"top_{name}"
        label = DECIDES if marking else TOP
        lines.append(
            f'  <Labels name="{control}" toName="{name}"><Label value="{label}" background="#ffd54f"/></Labels>'
        )
        lines.append(f'  <Text name="{name}" value="${name}" granularity="word"/>')
    if study.asks.choices:
        lines.append(f'  <Choices name="{ANSWER}" toName="{names[0]}" choice="single" required="true">')
        lines += [f'    <Choice value="{one}" hotkey="{key}"/>' for one, key in study.asks.choices.items()]
        lines.append("  </Choices>")
    return "\n".join([*lines, "</View>", ""])


def read(study: Study, paths: Sequence[Path]) -> dict[str, list[Answer]]:
    """The answers in exported tasks (JSON), by who completed them."""
    found: dict[str, list[Answer]] = {}
    for path in files_in(paths, "*.json"):
        tasks = read_json(path)
        if not isinstance(tasks, list):
            raise BadData(f"{path} holds no list of tasks; export the project as JSON")
        for one in tasks:
            try:
                item = study.item(one["data"]["id"])
                for annotation in one.get("annotations", ()):
                    who = annotator_name(_person(annotation["completed_by"]))
                    found.setdefault(who, []).append(answer(study, item, annotation, str(path)))
            except (KeyError, TypeError) as error:
                raise BadData(f"{path} holds a task without {error}; export the project as JSON") from error
    return found


def _person(completed_by: Any) -> Any:
    return completed_by.get("email") or completed_by["id"] if isinstance(completed_by, dict) else completed_by


def answer(study: Study, item: Item, annotation: dict[str, Any], where: str) -> Answer:
    """One annotation as an answer."""
    results, at = annotation.get("result", ()), str(annotation.get("created_at") or "")
    seconds = annotation.get("lead_time")
    if annotation.get("was_cancelled"):
        return Answer(item.id, SKIP, seconds=seconds, at=at)
    if study.asks.choices:
        chosen = [choice for one in results if one["from_name"] == ANSWER for choice in one["value"]["choices"]]
        return Answer(item.id, only(chosen, item.id, where), seconds=seconds, at=at)
    marked = [(one["value"]["start"], one["value"]["end"]) for one in results if one["from_name"] == MARKS]
    return Answer(item.id, "marked", words_within(item, marked), seconds, at)


FORMAT = Format("tasks.json and config.xml for a Label Studio project", write, read)
