"""Rationales: precision by hand, and an explainer that knows beside one that does not."""

import numpy as np
import pytest

from support import saved_models
from whence.core.errors import BadData
from whence.data.examples import Example
from whence.data.synthetic import reviews
from whence.evaluation.context import Context
from whence.experiments import rationales
from whence.measures.ranking import average_precision, r_precision
from whence.subject.subject import load


def table(*values, methods=("lat", "random")):
    """Precisions [method] of each example, of one seed."""
    return rationales.COLUMNS.table(
        [
            {
                "example": number,
                "seed": -1,
                "method": method,
                "precision": value,
                "at_marked": value / 2,
                "token_f1": value / 2,
                "correct": 1.0,
                "chance": 0.5,
                "iou_f1": value / 4,
                "marked": 0.25,
            }
            for method, of_method in zip(methods, zip(*values, strict=True), strict=True)
            for number, value in enumerate(of_method)
        ]
    )


def test_the_first_explainer_beside_random_scores_by_hand():
    first, *_ = rationales.effects(table((0.9, 0.3), (0.7, 0.5)))
    assert first.label == "lat, above random scores"
    assert first.value == pytest.approx(0.4)
    found = rationales.quantities(table((0.9, 0.3), (0.7, 0.5)))
    assert found["average precision of lat"].mean == pytest.approx(0.8)
    assert found["precision at their number of random"].mean == pytest.approx(0.2)


def test_a_summary_has_the_best_first_by_hand():
    rows = rationales.summary(table((0.3, 0.9), (0.5, 0.7)))
    assert rows["method"].tolist() == ["random", "lat"]
    assert rows["precision at their number"].tolist() == pytest.approx([0.4, 0.2])


@pytest.mark.parametrize(
    ("lat", "answer"), [(0.9, "yes"), (0.26, "no"), (0.31, "undecided")], ids=["finds", "does not", "perhaps"]
)
def test_what_is_said(lat, answer):
    rng = np.random.default_rng(0)
    rows = [(lat + noise, 0.25) for noise in rng.normal(0, 0.05, 40)]
    found = rationales.verdict(table(*rows))
    assert (found.answer, found.question) == (answer, 6)
    assert "25 % of the words are marked" in found.sentence


def test_too_few_and_without_random_nothing_is_decided():
    assert rationales.verdict(table((0.9, 0.1))).answer == "undecided"
    alone = rationales.verdict(table(*[(0.9,)] * 30, methods=("lat",)))
    assert alone.answer == "undecided"
    assert "add the method random" in alone.sentence


def test_a_trained_model_by_a_slow_loop():
    subject = load(saved_models.bert())
    examples = reviews.load(sizes={"train": 8})["train"]
    context = Context(subject, examples, range(8), quiet=True, name="rationales")
    made = rationales.run(rationales.Config(model="m", data="d", method=("leave_one_out", "random")), context)
    assert made["method"].value_counts().to_dict() == {"leave_one_out": 8, "random": 8}
    row = made[(made["method"] == "leave_one_out") & (made["example"] == 3)].iloc[0]
    from whence.api import explain

    example = examples[3]
    found = explain(subject, example.text, methods=("leave_one_out",)).attributions[0].words(0)
    assert row["precision"] == pytest.approx(average_precision(np.abs(found), np.array(example.rationale)))
    assert row["at_marked"] == pytest.approx(r_precision(np.abs(found), np.array(example.rationale)))
    assert row["marked"] == pytest.approx(np.mean(example.rationale))
    assert rationales.figure(made).axes


def test_examples_without_marks_get_a_sentence():
    context = Context(load(saved_models.bert()), [Example("the plot is dull")], [0], quiet=True, name="rationales")
    with pytest.raises(BadData, match="expected examples whose deciding words are marked"):
        rationales.run(rationales.Config(model="m", data="d"), context)


def test_examples_without_marks_are_left_out_where_others_have_them():
    marked = reviews.load(sizes={"train": 2})["train"]
    context = Context(load(saved_models.bert()), [Example("the plot is dull"), *marked], range(3), quiet=True)
    made = rationales.run(rationales.Config(model="m", data="d", method=("random",)), context)
    assert made["example"].tolist() == [1, 2]
