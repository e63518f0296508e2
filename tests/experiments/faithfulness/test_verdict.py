"""The verdict of faithfulness from tables made by hand."""

import numpy as np
import pandas as pd
import pytest

from whence.analysis.faithfulness import effects, ranked
from whence.experiments import faithfulness

KINDS = ("delete", "mask", "replace", "attention")


def made(n=60, correct=0.9, gradient=0.7, changes=True, **normalised) -> pd.DataFrame:
    """Attention's place between the worst and the best order by each kind of removal; random orders are at a half."""
    rng, rows = np.random.default_rng(0), []
    noise = rng.normal(0, 0.05, (n, 3))
    for kind in KINDS:
        value = normalised.get(kind, normalised.get("all", 0.9))
        for column, (method, at) in enumerate(
            (("raw_attention", value), ("gradient_x_input", gradient), ("random", 0.5))
        ):
            for example in range(n):
                rows.append(
                    {
                        "example": example,
                        "correct": float(example < correct * n),
                        "chance": 0.5,
                        "erase": kind,
                        "method": method,
                        "normalised": np.clip(at + noise[example, column], 0, 1),
                        "changes": changes,
                        "against": 0.0,
                        "span": 1,
                        "how": "layer: last",
                    }
                )
    columns = faithfulness.COLUMNS
    blank = dict.fromkeys(("delta_js", "delta_score", "flip"), np.nan)
    return columns.table([{**dict.fromkeys(columns.meanings, 0), **blank, "label": "", **row} for row in rows])


@pytest.mark.parametrize(
    ("table", "answer", "words"),
    [
        ({}, "yes", "Attention points at the words that decide"),
        ({"all": 0.5}, "no", "does not point at the words that decide"),
        ({"all": 0.1}, "no", "does not point"),
        ({"all": 0.5, "attention": 0.9}, "no", "earlier layers have moved what decides"),  # a carrier
        ({"attention": 0.5}, "undecided", "by other ways"),  # reads past attention
        ({"replace": 0.5}, "undecided", "disagree"),
        ({"all": 0.6}, "undecided", "not clear"),
        ({"correct": 0.5}, "undecided", "not clearly better than chance"),
        ({"n": 15}, "undecided", "too few"),
        ({"changes": False}, "undecided", "no words decide it"),
    ],
)
def test_the_rules(table, answer, words):
    found = faithfulness.verdict(made(**table))
    assert (found.question, found.answer) == (3, answer)
    assert words in found.sentence


def test_a_better_explainer_is_named():
    found = faithfulness.verdict(made(all=0.6, gradient=0.9))
    assert "More faithful here: gradient_x_input, 0.9" in found.advice
    assert "random orders 0.5" in found.advice
    assert "More faithful" not in faithfulness.verdict(made()).advice


def test_undecided_says_how_many_texts_would_decide():
    table = made(n=24, all=0.62)
    found = faithfulness.verdict(table)
    assert found.answer == "undecided"
    assert "texts would decide it (there were 24)" in found.advice


def test_flat_texts_are_left_out():
    table = made()
    table.loc[table["example"] < 10, "normalised"] = np.nan
    assert {effect.n for effect in effects(table)} == {50}
    assert "10 texts in which no order differs" in faithfulness.verdict(table).procedure
    assert faithfulness.verdict(table[table["method"] != "random"]).answer == "yes", "what is random is known"
    assert "add a method" in faithfulness.verdict(table[table["method"] == "random"]).sentence
    assert ranked(table)["method"].tolist() == ["raw_attention", "gradient_x_input", "random"]


def test_a_model_whose_prediction_never_moves_is_undecided():
    still = made(correct=0.5, changes=False).assign(normalised=np.nan)
    found = faithfulness.verdict(still)
    assert found.answer == "undecided"
    assert "not clearly better than chance" in found.sentence
    assert faithfulness.summary(still)["texts"].tolist() == [0, 0, 0]
