"""Texts that a report shows: which are chosen, and what is shown of them."""

import numpy as np
import pandas as pd
import pytest

from support.contexts import TASKS
from support.contexts import context as context_of
from whence.auditing.examples import LONGEST, chosen, report_examples, shown_methods
from whence.experiments import faithfulness
from whence.report.page import build
from whence.report.page_model import AuditPage, Part, TextExample


def made(attention: list[float], gradient: list[float]) -> pd.DataFrame:
    rows = [
        {"example": number, "erase": "delete", "method": method, "normalised": value}
        for method, values in (("raw_attention", attention), ("gradient_x_input", gradient), ("random", [0.5] * 9))
        for number, value in enumerate(values)
    ]
    columns = faithfulness.COLUMNS
    return columns.table([{**BLANK, **row} for row in rows])


EMPTY = {int: 0, float: float("nan"), bool: False, str: ""}
BLANK = {name: EMPTY[column.kind] for name, column in faithfulness.COLUMNS.columns.items()}


def test_texts_are_chosen_by_what_removals_say():
    table = made([0.9, 0.1, 0.5, 0.8, 0.2, 0.5], [0.8, 0.2, 0.9, 0.5, 0.2, 0.4])
    methods = shown_methods(table)
    assert methods == ["raw_attention", "gradient_x_input"]
    found = [(title, number) for title, _, number in chosen(table, methods, set(range(6)))]
    assert found == [
        ("raw_attention points at what decides", 0),
        ("raw_attention points at what decides", 3),
        ("raw_attention misleads most", 1),
        ("raw_attention misleads most", 4),
        ("raw_attention and gradient_x_input disagree most", 2),
        ("raw_attention and gradient_x_input disagree most", 3),
    ]
    assert 0 not in [number for *_, number in chosen(table, methods, {1, 2, 3})]


@pytest.mark.parametrize("kind", TASKS)
def test_any_task_shows_its_texts(kind):
    some = context_of(kind, n=4)
    config = faithfulness.Config(model="m", data="d", steps=2, erase=("delete",), soft_draws=0)
    found = report_examples(faithfulness.run(config, some), some.subject, some.examples)
    assert len({one.title for one in found}) == 3  # of an untrained model, not all texts have words that decide
    assert all(len(scores) == len(one.words) <= 2 * LONGEST for one in found for scores in one.scores.values())
    assert all("leave_one_out" in one.scores for one in found)
    assert all(np.isfinite(scores).all() for one in found for scores in one.scores.values())


def test_words_are_shown_as_text():
    evil = TextExample("<b>title</b>", "note", ["<script>", "a"], {"raw_attention": [0.5, 0.1]})
    page = build(AuditPage("t", [Part("p", "about", {}, examples=[evil])]))
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "<b>title" not in page
