"""Answers joined with the key: the rows of the table that `human_evaluation` analyses."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from whence.annotation.answers import SYNTHETIC, Answer, read_answers
from whence.annotation.study import Item, Secret, Study, read_study
from whence.annotation.tasks import SKIP
from whence.core.errors import BadData
from whence.measures.ranking import average_precision

RELEVANCE = {"yes": 1.0, "no": 0.0}
PREFERENCE = {"first": 1.0, "second": 0.0, "same": 0.5}
MISSING = float("nan")


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """All rows of the study in a folder."""
    study = read_study(folder)
    answers = {name: given for name, given in read_answers(folder, study).items() if given}
    synthetic = {name.startswith(SYNTHETIC) for name in answers}
    if not answers:
        raise BadData(f"{folder} holds no answers yet; `whence annotate serve {folder} --annotators a,b` collects some")
    if len(synthetic) > 1:
        raise BadData(
            f"{folder} holds answers of people and of synthetic annotators, which are not analysed together; move the"
            f" files answers/{SYNTHETIC}* away"
        )
    return list(made_rows(study, answers))


def refuse_other_model(folder: Path, fingerprint: str, name: str) -> None:
    """Refuse a study that was prepared with another model: its answers say nothing about this one."""
    about = read_study(folder).about
    if about["model_fingerprint"] != fingerprint:
        raise BadData(
            f"the study in {folder} was prepared with another model ({about['model']}); its answers say nothing about"
            f" {name}"
        )


def made_rows(study: Study, answers: Mapping[str, Mapping[str, Answer]]) -> Iterator[dict[str, Any]]:
    """The rows of answers, by annotator and item, in the order of the study's methods and controls."""
    key, order = study.key(), [*study.design["methods"], *study.design["controls"]]
    chance = shuffled_labels(study)
    found = [
        row
        for name, given in answers.items()
        for item in study.items
        if item.id in given
        for row in _rows(study, item, key[item.id], name, given[item.id], chance)
    ]
    places = {condition: number for number, condition in enumerate(order)}
    yield from sorted(found, key=lambda row: places.get(row["condition"], len(order)))


def shuffled_labels(study: Study) -> dict[str, float]:
    """By item the share of predictions that are its label, among the texts on which the model ran as it is.

    Empty where right and wrong predictions were drawn in equal numbers: then nothing says how good the model is.
    """
    if study.design.get("stratify"):
        return {}
    own = [item for item in study.items if _own_run(study.key()[item.id])]
    predictions = [item.prediction for item in own]
    labels = {item.id: study.key()[item.id].label for item in own}
    return {name: predictions.count(label) / len(predictions) for name, label in labels.items() if label is not None}


def _own_run(secret: Secret) -> bool:
    return not (secret.check or secret.repeats or "permuted" in secret.conditions)


def _rows(
    study: Study, item: Item, secret: Secret, annotator: str, given: Answer, chance: Mapping[str, float]
) -> Iterator[dict[str, Any]]:
    """The row of one answer; of marked words one for each method."""
    row: dict[str, Any] = {
        "item": item.id,
        "example": secret.example,
        "annotator": annotator,
        "synthetic": annotator.startswith(SYNTHETIC),
        "task": study.task,
        "condition": "",
        "control": False,
        "against": "",
        "correct": MISSING if secret.correct is None else secret.correct,
        "chance": chance.get(secret.repeats or item.id, MISSING),
        "answer": given.answer,
        "value": MISSING,
        "seconds": MISSING if given.seconds is None else given.seconds,
        "check": passed(study, secret, given) if secret.check else "",
        "repeats": secret.repeats,
        "marks": marks(item, given) if study.task == "marking" else "",
    }
    if secret.check:
        yield row
    elif study.task == "relevance":
        condition = secret.conditions[0]
        yield {**row, **_named(study, condition), "value": RELEVANCE.get(given.answer, MISSING)}
    elif study.task == "preference":
        yield {**row, **preferred(study, secret, given)}
    else:
        for method, scores in secret.scores.items():
            yield {**row, **_named(study, method), "value": precision(scores, row["marks"], given)}


def _named(study: Study, condition: str) -> dict[str, Any]:
    return {"condition": condition, "control": condition in study.design["controls"]}


def passed(study: Study, secret: Secret, given: Answer) -> str:
    """Whether a check was passed: the answer, or the one marked word, is the expected one."""
    came = given.answer if study.task != "marking" else ",".join(str(word) for _, word in given.marked)
    return "passed" if came == secret.check else "failed"


def preferred(study: Study, secret: Secret, given: Answer) -> dict[str, Any]:
    """Which of two conditions was preferred, as the share of the one that comes first in the design."""
    order = [*study.design["methods"], *study.design["controls"]]
    one, other = sorted(secret.conditions, key=order.index)
    value = PREFERENCE.get(given.answer, MISSING)
    turned = secret.conditions[0] != one
    return {
        "condition": one,
        "against": other,
        "control": other in study.design["controls"],
        "value": 1 - value if turned else value,
    }


def marks(item: Item, given: Answer) -> str:
    """For every word of the item whether it is marked, as ones and zeros."""
    chosen = set(given.marked)
    words = [(text, word) for text, all_words in enumerate(item.texts) for word in range(len(all_words))]
    return "".join("1" if place in chosen else "0" for place in words)


def precision(scores: list[list[float]], marked: str, given: Answer) -> float:
    """The average precision of the marked words in the order of the scores; missing where no word is marked."""
    flat = np.array([score for text in scores for score in text])
    words = np.array([mark == "1" for mark in marked])
    if given.answer == SKIP or not words.any():
        return MISSING
    return float(average_precision(flat, words))
