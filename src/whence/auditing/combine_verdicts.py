"""The rules that combine the verdicts of single experiments into one answer per question. No table, no model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from whence.results.verdict import NONE, QUESTIONS, Verdict

MATTERS, ASKABLE, FAITHFUL, TESTED, EXCLUSIVE, PLAUSIBLE = QUESTIONS
DECIDING_FIRST = ("ablation", "permutation", "representation_erasure")  # of question 1, in this order


def combine(by_experiment: Mapping[str, Verdict]) -> dict[int, Verdict]:
    """One verdict per question from those of the experiments; those that answer none of the six are left out."""
    deciding = [by_experiment[name] for name in DECIDING_FIRST if name in by_experiment]
    combined = {MATTERS: does_attention_matter(deciding)} if deciding else {}
    for name, verdict in by_experiment.items():
        number = verdict.question
        if name not in DECIDING_FIRST and number != NONE:
            combined[number] = both(combined[number], verdict) if number in combined else verdict
    return with_conflict(if_the_tests_work(dict(sorted(combined.items()))))


def if_the_tests_work(verdicts: dict[int, Verdict]) -> dict[int, Verdict]:
    """Where the tests fail on known answers (question 4), questions 3 and 5 are undecided."""
    if TESTED not in verdicts or verdicts[TESTED].answer != "no":
        return verdicts
    because = "The tests of this question failed here on cases with a known answer (question 4). What they gave: "
    return {
        number: replace(verdict, answer="undecided", sentence=because + verdict.sentence, advice="")
        if number in (FAITHFUL, EXCLUSIVE) and verdict.answer != "undecided"
        else verdict
        for number, verdict in verdicts.items()
    }


def with_conflict(verdicts: dict[int, Verdict]) -> dict[int, Verdict]:
    """Where the marked words speak against what removals say (questions 6 and 3), both verdicts say so."""
    answers = {number: verdicts[number].answer for number in (FAITHFUL, PLAUSIBLE) if number in verdicts}
    if sorted(answers.values()) != ["no", "yes"]:
        return verdicts
    words = (
        "it attends to the words that decide by removal, but not to those that are marked"
        if answers[FAITHFUL] == "yes"
        else "it attends to the words that are marked, but by removal others decide"
    )
    remark = f" This conflicts with question {{}}: {words}."
    other = {FAITHFUL: PLAUSIBLE, PLAUSIBLE: FAITHFUL}
    return {
        number: replace(verdict, sentence=verdict.sentence + remark.format(other[number]))
        if number in other
        else verdict
        for number, verdict in verdicts.items()
    }


def both(first: Verdict, second: Verdict) -> Verdict:
    """Two verdicts of equal rank on one question: where their answers differ, it stays undecided.

    A *no* on whether the question can be asked stands against a *yes*: one reason is enough.
    """
    answer = first.answer if first.answer == second.answer else "undecided"
    if first.question == ASKABLE and "no" in (first.answer, second.answer):
        answer = "no"
    return replace(joined([first, second]), answer=answer, sentence=f"{first.sentence} {second.sentence}")


def does_attention_matter(verdicts: Sequence[Verdict]) -> Verdict:
    """Question 1: the first verdict decides, the others are evidence.

    The ablation is first, since a task may be done as well without attention although single predictions move; without
    labels to score, the permutation. Which single head is needed comes last.
    """
    return replace(joined(verdicts), sentence=sentences(verdicts))


def joined(verdicts: Sequence[Verdict]) -> Verdict:
    """The first verdict, with the effects and procedures of all of them."""
    return replace(
        verdicts[0],
        effects=tuple(effect for verdict in verdicts for effect in verdict.effects),
        procedure=" ".join(verdict.procedure for verdict in verdicts),
        means=" ".join(dict.fromkeys(verdict.means for verdict in verdicts)),
        does_not_mean=" ".join(dict.fromkeys(verdict.does_not_mean for verdict in verdicts)),
        advice=" ".join(dict.fromkeys(verdict.advice for verdict in verdicts if verdict.advice)),
    )


def sentences(verdicts: Sequence[Verdict]) -> str:
    """The sentences of the verdicts in turn; where a later answer differs, how both can be true."""
    first, *others = verdicts
    found = [first.sentence]
    for other in others:
        if (first.answer, other.answer) == ("no", "yes"):
            found.append("Yet single predictions of this model depend on it.")
        elif (first.answer, other.answer) == ("yes", "no"):
            found.append("Yet it hardly matters which words get the weight.")
        found.append(other.sentence)
    return " ".join(dict.fromkeys(found))
