"""Marked words as rationales: a table that `whence run rationales` and any audit reads."""

from pathlib import Path
from typing import Any

from whence.annotation.answers import Answer
from whence.annotation.formats.files import write_jsonl
from whence.annotation.study import Study
from whence.core.errors import BadData


def rationales(study: Study, answers: dict[str, dict[str, Answer]]) -> list[dict[str, Any]]:
    """One row per text that somebody marked: a word decides if at least half of those who
    marked the text chose it. Of a pair only the first text's marks are kept: tables have no others.
    """
    rows = []
    for item in study.items:
        secret = study.key()[item.id]
        given = [one[item.id] for one in answers.values() if item.id in one and one[item.id].answer == "marked"]
        if secret.check or secret.repeats or not given:
            continue
        counts = [sum((0, word) in one.marked for one in given) for word in range(len(item.texts[0]))]
        pair = {"pair": " ".join(item.texts[1])} if len(item.texts) > 1 else {}
        label = {} if secret.label is None else {"label": secret.label}
        rows.append(
            {"tokens": list(item.texts[0]), "rationale": [2 * count >= len(given) for count in counts], **pair, **label}
        )
    return rows


def write_rationales(study: Study, answers: dict[str, dict[str, Answer]], path: Path) -> int:
    """Write the table as JSON lines; how many texts it has."""
    if study.task != "marking":
        raise BadData(f"rationales are words that annotators marked; this study asks for {study.task}")
    rows = rationales(study, answers)
    if not rows:
        raise BadData("no text was marked yet; there are no rationales to write")
    write_jsonl(path, rows)
    return len(rows)
