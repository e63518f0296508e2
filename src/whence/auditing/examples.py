"""Texts for the report: where attention is right, where it misleads most, and where methods disagree most."""

from collections.abc import Sequence

import pandas as pd

from whence.analysis.faithfulness import RANDOM, first_method, over_kinds, ranked
from whence.attribution.registry import explainer
from whence.data.examples import Example
from whence.report.page_model import TextExample
from whence.subject.subject import Subject
from whence.subject.targets import predicted

EACH = 2  # texts of each kind
LONGEST = 80  # words of a text that is shown
LEAVE_ONE_OUT = "leave_one_out"


def report_examples(table: pd.DataFrame, subject: Subject, examples: Sequence[Example]) -> list[TextExample]:
    """The chosen texts of an audit, scored by the judged explainer, by the most faithful other one and by leaving out.

    Texts of more than `LONGEST` words are not chosen.
    """
    short = {number for number, example in enumerate(examples) if len(example.text.split()) <= LONGEST}
    methods = shown_methods(table)
    return [
        shown(subject, examples[number], title, note, methods) for title, note, number in chosen(table, methods, short)
    ]


def shown_methods(table: pd.DataFrame) -> list[str]:
    """The judged explainer, and the most faithful of the others; leaving out comes last if it was run."""
    order = [str(method) for method in ranked(table)["method"] if method not in (RANDOM, LEAVE_ONE_OUT)]
    others = [method for method in order if method != first_method(table)][:1]
    last = [LEAVE_ONE_OUT] if LEAVE_ONE_OUT in set(table["method"]) else []
    return [first_method(table), *others, *last]


def chosen(table: pd.DataFrame, methods: Sequence[str], short: set[int]) -> list[tuple[str, str, int]]:
    """Title, note and number of each text."""
    by_text = over_kinds(table).dropna()
    by_text = by_text[by_text.index.isin(sorted(short))]
    own = by_text[methods[0]].sort_values(ascending=False, kind="stable")
    found = [
        (f"{methods[0]} points at what decides", own.index[:EACH]),
        (f"{methods[0]} misleads most", own.index[::-1][:EACH]),
    ]
    if len(methods) > 1:
        apart = (by_text[methods[1]] - own).abs().sort_values(ascending=False, kind="stable")
        found.append((f"{methods[0]} and {methods[1]} disagree most", apart.index[:EACH]))
    return [
        (title, "; ".join(f"{method} {by_text.loc[number, method]:.2f}" for method in methods), int(number))
        for title, numbers in found
        for number in numbers
    ]


def shown(subject: Subject, example: Example, title: str, note: str, methods: Sequence[str]) -> TextExample:
    """One text with the scores of its words by each method."""
    batch = subject.encode([example])
    target = predicted(subject, batch, "margin")
    (spelled,) = subject.encoder.spelled(batch, [example])
    real = len(batch.tokens[0])
    words: list[str] = []
    scores: dict[str, list[float]] = {}
    for method in methods:
        found = explainer(method)(subject, batch, target).by_word(spelled[:real])
        text = found.text(0)
        words = [word for word, _ in text]
        scores[method] = [round(score, 5) for _, score in text]
    predicted_label = subject.labels[int(target.classes[0])] if subject.task.needs == "label" else ""
    about = (
        f"predicted {predicted_label}{f', label {example.label}' if example.label is not None else ''}"
        if predicted_label
        else ""
    )
    place = f"{'; ' * bool(about)}place between the worst and the best order: {note}"
    return TextExample(title, about + place, words, scores)
