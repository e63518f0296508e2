"""Controls: what is said of every outcome, and a whole run on a small model."""

import numpy as np
import pytest

from support import saved_models
from support.shared import home
from whence.analysis.controls import by_stage
from whence.evaluation.context import Context
from whence.experiments import controls
from whence.subject.subject import load

N = 40
GOOD = {"leave_one_out": 0.95, "raw_attention": 0.1, "random": 0.1}
KEPT = {"leave_one_out": 0.02, "raw_attention": 0.1, "random": 0.0}
KNOWN = {"deceptive": "no", "honest": "yes"}


def table(found=None, kept=None, known=None, used=1.0, model="copy", why="", n=N, correct=1.0):
    """Shares of texts with the planted word first, correlations, answers; one row for each example."""
    rows = [
        {"part": "shortcut", "method": model, "value": float(i < used * n), "note": why, "example": i} for i in range(n)
    ]
    for method, share in (GOOD if found is None else found).items():
        hits = ({"value": float(i < share * n), "example": i} for i in range(n))
        rows += [{"part": "planted", "method": method, "expected": 0.1, **hit} for hit in hits]
    for method, rho in (KEPT if kept is None else kept).items():
        for stage, value in ((0, 1.0), (1, rho)):
            noise = 0.1 * np.resize([-1.0, 1.0], n)
            rows += [
                {"part": "randomised", "method": method, "stage": stage, "place": f"p{stage}", "example": i, "value": v}
                for i, v in enumerate(np.clip(value + noise, -1, 1))
            ]
    rows += [
        {"part": "deceptive", "method": kind, "answer": answer, "example": -1, "value": float(kind == "honest")}
        for kind, answer in (KNOWN if known is None else known).items()
    ]
    about = {"correct": correct, "chance": 0.5}
    return controls.COLUMNS.table({**controls.NOTHING, **about, **row} for row in rows)


@pytest.mark.parametrize(
    ("changed", "answer", "said"),
    [
        ({}, "yes", "The tests work here. A planted word comes first in texts whose prediction it provably changes"),
        ({"known": {"deceptive": "yes", "honest": "yes"}}, "no", "says *yes* for a model that was trained to hide"),
        ({"known": {"deceptive": "no", "honest": "no"}}, "no", "*no* for one that shows them (expected *yes*)"),
        ({"known": {"deceptive": "undecided", "honest": "yes"}}, "undecided", "says *undecided* for a model"),
        ({"known": {}}, "undecided", "was not run"),
        ({"found": {"leave_one_out": 0.1, "gradient_x_input": 0.2}}, "no", "a planted word is not found"),
        ({"found": {"leave_one_out": 0.1, "gradient_x_input": 0.9}}, "yes", "leave_one_out in 10 %"),
        ({"found": {"leave_one_out": 0.55}}, "undecided", "not clear whether a planted word is found"),
        ({"found": {"raw_attention": 0.9}}, "undecided", "no test explainer was run"),
        ({"found": {}, "used": 0.2, "why": "no time"}, "undecided", "no word could be planted"),
        ({"found": {"leave_one_out": 0.1}, "model": "probe"}, "undecided", "a linear probe of the model's inputs"),
        ({"model": "probe", "why": "no time was given"}, "yes", "a linear probe of the model's inputs, since no time"),
        ({"kept": {"leave_one_out": 0.9, "random": 0.0}}, "undecided", "leave_one_out did not notice"),
        ({"kept": {"leave_one_out": 0.0, "raw_attention": 0.9}}, "yes", "raw_attention did not notice"),
        ({"n": 19}, "undecided", "There are 19 examples"),
        ({"correct": 0.5}, "undecided", "not clearly better than chance"),
    ],
)
def test_what_is_said(changed, answer, said):
    found = controls.verdict(table(**changed))
    assert (found.answer, found.question) == (answer, 4)
    assert said in found.sentence


def test_effects_by_hand():
    found = {(effect.key, effect.variant): effect for effect in controls.verdict(table()).effects}
    first = found["found_first", "leave_one_out"]
    assert (first.value, first.n, first.smallest) == pytest.approx((0.95, N, 0.55))  # halfway from 0.1 to 1
    share, z = 0.95, 1.959964  # Wilson's interval
    centre, half = share + z**2 / (2 * N), z * np.sqrt(share * (1 - share) / N + z**2 / (4 * N**2))
    assert (first.low, first.high) == pytest.approx(
        ((centre - half) / (1 + z**2 / N), (centre + half) / (1 + z**2 / N)), abs=1e-5
    )
    assert found["unchanged_by_random_weights", "raw_attention"].value == pytest.approx(0.1)
    assert found["token_used", "copy"].value == 1.0
    assert found["weight_on_deciding_words", "deceptive"].value == 0.0


def test_figures_and_summary():
    assert next(label.get_text() for label in controls.figure(table()).axes[0].get_yticklabels()) == "leave_one_out"
    stages = by_stage(table())
    rows = stages[stages["method"] == "leave_one_out"]
    assert rows["stage"].tolist() == [0, 1, 2]
    assert rows["value"].tolist() == pytest.approx([1.0, 0.95, 0.02])  # the second is cut at 1
    assert set(controls.figures(table())) == {"randomised"}
    assert controls.figure(table(found={})).axes  # the correlations, where no word could be planted
    assert len(controls.summary(table())) == len(controls.verdict(table()).effects)


def test_a_small_model_whole():
    corpus = saved_models.corpus()
    context = Context(
        load(saved_models.bert()),
        corpus["test"][:44],
        range(100, 144),
        quiet=True,
        name="controls",
        corpus=corpus,
        models_folder=home() / "controls",
    )
    methods = ("leave_one_out", "raw_attention", "random")
    config = controls.Config(model="m", data="d", method=methods, tuning=900.0, explained=21, stages=2)
    made = controls.run(config, context)
    found = controls.verdict(made)
    assert found.answer == "yes", found.sentence
    texts = made[made["example"] >= 0]
    assert texts["example"].between(100, 143).all()
    assert texts["correct"].notna().all()
    assert made[made["part"] == "shortcut"]["method"].unique().tolist() == ["copy"]
    assert made[made["part"] == "randomised"].groupby(["method", "stage"]).size().tolist() == [21] * 6
