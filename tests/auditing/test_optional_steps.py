"""Optional steps of an audit, and the verdicts that they join."""

from dataclasses import replace

import pytest

import whence
from support import saved_models
from whence.auditing.audited import AuditedPart
from whence.auditing.combine_verdicts import both as both_of
from whence.auditing.optional_steps import optional_steps, with_trained_models
from whence.auditing.plan import FEWEST, Costs, Plan, make_plan, measure_costs
from whence.data.registry import load
from whence.experiments import ablation, permutation, rationales
from whence.results.result import Result
from whence.results.verdict import Verdict


def verdicts(results: list[Result]) -> dict[int, Verdict]:
    return AuditedPart("made", "", results).verdicts


def test_the_ablation_decides_and_the_permutation_stands_beside_it():
    rows = [{"example": n, "label": "ab"[n % 2], "place": "all"} for n in range(40)]
    lost = ablation.COLUMNS.table(
        [
            row
            | {
                "variant": "uniform",
                "when": "infer",
                "seed": -1,
                "base": 1.0,
                "ablated": 0.0,
                "base_counts": None,
                "ablated_counts": None,
            }
            for row in rows
        ]
    )
    still = permutation.COLUMNS.table([row | {"max_weight": 0.5, "median_tvd": 0.0} for row in rows])
    both = verdicts([Result("permutation", still, {}), Result("ablation", lost, {})])
    assert both[1].answer == "yes"
    assert "Attention matters" in both[1].sentence
    assert "hardly moves" in both[1].sentence
    assert verdicts([Result("permutation", still, {})])[1].answer == "no"
    assert verdicts([]) == {}
    few = verdicts([Result("permutation", still[:2], {}), Result("ablation", lost[:2], {})])[1]
    assert (few.answer, few.sentence.count("too few")) == ("undecided", 1)


def test_heads_are_taken_away_where_there_are_several_and_time_for_it():
    def plan(costs: Costs, labelled: bool = True) -> Plan:
        return make_plan(costs, 300, 600.0, granularity="all", labelled=labelled)

    step = plan(Costs(0.001, None, 1, False, 72)).steps[2]
    assert (step.experiment, step.options) == ("representation_erasure", {"limit": None, "what": "heads"})
    assert step.seconds == pytest.approx(300 * 72 * 0.001 * 0.6)
    one_head, unlabelled = plan(Costs(0.001, None, 1, False)), plan(Costs(0.001, None, 1, False, 72), labelled=False)
    assert "representation_erasure" not in [step.experiment for step in (*one_head.steps, *unlabelled.steps)]
    slow = plan(Costs(0.1, None, 1, False, 144))
    assert [step.experiment for step in slow.steps] == ["ablation", "permutation"]
    assert any("144 heads are not erased one after another" in said for said in slow.left_out)
    assert not any("heads" in said for said in one_head.left_out)


def test_the_heads_of_a_model_are_counted():
    subject, examples = whence.load(saved_models.bert()), load("reviews")["test"]
    config = subject.model.config
    expected = config.num_hidden_layers * config.num_attention_heads
    assert measure_costs(subject, examples, "all", None).heads == expected


def test_marks_and_trees_let_question_six_be_asked():
    subject, examples = whence.load(saved_models.bert()), load("reviews")["test"]
    steps = optional_steps(subject, examples, Costs(0.01, None, 1, False), 60.0)
    assert [step.experiment for step in steps] == ["erasure", "instance_adversary", "rationales"]
    assert sum(step.seconds for step in steps) <= 0.4 * 60 + FEWEST * 0.01 * (3 * 40 + 3 * 80)
    linked, writer = load("numerals")["test"], whence.load(saved_models.translator())
    asked = [step.experiment for step in optional_steps(writer, linked, Costs(0.01, None, 1, False), 60.0)]
    assert asked == ["erasure", "alignment"]
    treed = [example for example in load("clauses")["test"] if example.heads]
    assert [step.experiment for step in optional_steps(subject, treed, Costs(0.01, None, 1, False), 60.0)][
        -1
    ] == "syntax"
    bare = [replace(example, rationale=None) for example in examples]
    assert [step.experiment for step in optional_steps(subject, bare, Costs(0.01, None, 1, False), 60.0)] == [
        "erasure",
        "instance_adversary",
    ]


def test_models_that_are_trained_are_set_beside_each_other():
    examples = load("reviews")["test"]
    fast = Costs(1e-4, 2.0, 1, False)
    trained = make_plan(fast, len(examples), 60.0, granularity="all", labelled=True)
    steps = with_trained_models(trained, fast, examples, 60.0).steps
    assert [step.experiment for step in steps[-2:]] == ["seeds", "adversary"]
    assert steps[-2].options["others"] == trained.steps[0].options["retrain"] - 1
    assert with_trained_models(trained, Costs(1e-4, 20.0, 1, False), examples, 60.0).steps[-1].experiment == "seeds"
    bare = make_plan(Costs(1e-4, None, 1, False), len(examples), 60.0, granularity="all", labelled=True)
    assert with_trained_models(bare, Costs(1e-4, None, 1, False), examples, 60.0) == bare


def marked(found: float, random: float, method: str = "raw_attention") -> Result:
    """A table of average precisions."""
    rows = [
        {
            "example": n,
            "seed": -1,
            "method": name,
            "precision": value + 0.01 * (n % 3),
            "at_marked": value,
            "marked": 0.2,
        }
        for name, value in ((method, found), ("random", random))
        for n in range(40)
    ]
    return Result("rationales", rationales.COLUMNS.table(rows), {})


def test_two_answers_to_one_question_stand_beside_each_other():
    yes, no = (verdicts([marked(found, 0.2)])[6] for found in (0.9, 0.2))
    assert (yes.answer, no.answer) == ("yes", "no")
    assert both_of(yes, yes).answer == "yes"
    both = both_of(yes, no)
    assert both.answer == "undecided"
    assert both.sentence == f"{yes.sentence} {no.sentence}"
    assert both.effects == (*yes.effects, *no.effects)
