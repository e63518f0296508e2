"""The score of a model: by hand, and of a trained model beside a plain count."""

import numpy as np
import pytest

from support import saved_models
from whence.data.tables.reader import Columns, read_table
from whence.evaluation.context import Context
from whence.experiments import score
from whence.subject.subject import load


def table(*runs, labels="ab"):
    """Marks of examples, by seed."""
    return score.COLUMNS.table(
        [
            {
                "example": number,
                "label": labels[number % len(labels)],
                "seed": seed,
                "measure": "accuracy",
                "score": mark,
                "counts": None,
            }
            for seed, marks in enumerate(runs)
            for number, mark in enumerate(marks)
        ]
    )


def test_the_score_and_its_spread_by_hand():
    found = score.quantities(table([1, 1, 1, 0], [1, 0, 0, 0]))
    assert found["accuracy"].mean == 50
    assert found["SD over runs"].mean == pytest.approx(np.std([75, 25], ddof=1))


def test_a_series_is_marked_by_its_concordance():
    both = table([0.5, 0.7], [0.9, 0.3]).assign(measure="concordance")
    found = score.quantities(both)
    assert found["concordance"].mean == pytest.approx(0.6)
    assert found["SD over examples"].mean == pytest.approx((0.1 + 0.3) / 2)
    assert "0.600 of concordance" in score.verdict(table([0.6] * 30).assign(measure="concordance")).sentence


def test_one_run_has_no_spread_over_runs():
    assert np.isnan(score.quantities(table([1, 0]))["SD over runs"].mean)


@pytest.mark.parametrize(
    ("right", "labels", "answer"),
    [(0.9, "ab", "yes"), (0.9, "aaaaaaaaab", "undecided"), (0.5, "ab", "undecided"), (0.1, "ab", "no")],
)
def test_a_model_knows_its_task_if_it_does_better_than_the_most_frequent_answer(right, labels, answer):
    found = score.verdict(table([1] * int(200 * right) + [0] * (200 - int(200 * right)), labels=labels))
    assert found.answer == answer
    assert found.question == 2
    assert "points of accuracy" in found.sentence


def test_few_examples_decide_nothing():
    assert score.verdict(table([1] * 19)).answer == "undecided"


def test_a_trained_model_beside_a_plain_count():
    subject = load(saved_models.bert())
    examples = read_table(saved_models.labelled(), Columns())["test"][:12]
    some = Context(subject, examples, range(12), quiet=True, name="score")
    made = score.run(score.Config(model="m", data="d"), some)
    right = [subject.labels[int(subject.predict(subject.encode([e]))[0, 0].argmax())] == e.label for e in examples]
    assert made["score"].tolist() == [float(mark) for mark in right]
    assert score.figure(made).axes
