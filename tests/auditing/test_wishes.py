"""What an audit asks of a model and a corpus, and how verdicts are combined."""

from dataclasses import replace

import whence
from support import saved_models
from whence.auditing.audited import AuditedPart
from whence.auditing.combine_verdicts import both as both_of
from whence.auditing.combine_verdicts import combine
from whence.auditing.costs import Costs, measure_costs
from whence.auditing.wishes import of_any_model
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


def test_the_heads_of_a_model_are_counted():
    subject, examples = whence.load(saved_models.bert()), load("reviews")["test"]
    config = subject.model.config
    expected = config.num_hidden_layers * config.num_attention_heads
    assert measure_costs(subject, examples, "all", None).heads == expected


def test_marks_and_trees_let_question_six_be_asked():
    subject, examples, costs = whence.load(saved_models.bert()), load("reviews")["test"], Costs(0.01, None, 1, False)

    def asked(subject, examples) -> set[str]:
        return {wish.experiment for wish in of_any_model(subject, examples, costs, 60.0)}

    always = {"faithfulness", "identifiability", "instance_adversary", "controls"}
    assert asked(subject, examples) == {*always, "rationales"}
    linked, writer = load("numerals")["test"], whence.load(saved_models.translator())
    assert asked(writer, linked) == {"faithfulness", "alignment"}
    treed = [example for example in load("clauses")["test"] if example.heads]
    assert "syntax" in asked(subject, treed)
    assert asked(subject, [replace(example, rationale=None) for example in examples]) == always


def marked(found: float, random: float, method: str = "raw_attention") -> Result:
    """A table of average precisions."""
    rows = [
        {
            "example": n,
            "seed": -1,
            "method": name,
            "precision": value + 0.01 * (n % 3),
            "at_marked": value,
            "token_f1": value,
            "correct": 1.0,
            "chance": 0.5,
            "iou_f1": value,
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


def verdict_on(question: int, answer: str) -> Verdict:
    return Verdict(question, answer, f"Sentence {question}.", (), "", "", "", "advice")


def test_where_the_tests_fail_their_questions_are_undecided():
    found = combine({"a": verdict_on(3, "yes"), "b": verdict_on(5, "no"), "c": verdict_on(4, "no")})
    assert [found[number].answer for number in (3, 4, 5)] == ["undecided", "no", "undecided"]
    assert found[3].sentence.startswith("The tests of this question failed here")
    assert found[3].advice == ""
    works = combine({"a": verdict_on(3, "yes"), "c": verdict_on(4, "undecided")})
    assert works[3] == verdict_on(3, "yes")


def test_a_conflict_with_marked_words_is_said():
    found = combine({"a": verdict_on(3, "yes"), "b": verdict_on(6, "no")})
    assert found[3].sentence.startswith(
        "Sentence 3. This conflicts with question 6: it attends to the words that decide"
    )
    assert "conflicts with question 3" in found[6].sentence
    assert "by removal others decide" in combine({"a": verdict_on(3, "no"), "b": verdict_on(6, "yes")})[3].sentence
    for answers in (("yes", "yes"), ("yes", "undecided"), ("no", "no")):
        same = combine({"a": verdict_on(3, answers[0]), "b": verdict_on(6, answers[1])})
        assert "conflict" not in same[3].sentence + same[6].sentence


def test_one_reason_is_enough_for_a_question_that_cannot_be_asked():
    assert combine({"a": verdict_on(2, "yes"), "b": verdict_on(2, "no")})[2].answer == "no"
    assert combine({"a": verdict_on(2, "yes"), "b": verdict_on(2, "undecided")})[2].answer == "undecided"


def test_a_model_at_chance_leaves_every_question_undecided():
    from whence.experiments import identifiability

    n = 40
    still = permutation.COLUMNS.table(
        [{"example": i, "label": "a", "place": "all", "max_weight": 0.5, "median_tvd": 0.0} for i in range(n)]
    )
    columns: dict[str, object] = {
        "keys": 9,
        "width": 16.0,
        "rank": 17.0,
        "free_keys": 7,
        "free_mass": 0.8,
        "conicity": 0.5,
        "moved": 1.0,
    }
    columns |= {"label": "", "special_mass": 0.2, "sink_mass": 0.0, "chance": 0.5, "weights": "last"}
    for right, answer in ((0.0, "undecided"), (1.0, "no")):
        rows = [{"example": i, "correct": float(i % 2 or right), **columns} for i in range(n)]
        known = Result("identifiability", identifiability.COLUMNS.table(rows), {})
        assert verdicts([Result("permutation", still, {}), known])[1].answer == answer
