"""The rules that turn an audit's tables into verdicts. They need the tables alone, no model."""

from dataclasses import replace

from whence.results.experiment import experiment
from whence.results.result import Result
from whence.results.verdict import Verdict

DECIDING_FIRST = ("ablation", "permutation", "representation_erasure")  # of question 1, in this order


def verdicts(results: list[Result]) -> dict[int, Verdict]:
    """The answers that these results give, by question."""
    by_name = {result.experiment: result for result in results}
    matters = does_attention_matter(by_name)
    given = {1: matters} if matters is not None else {}
    for name, result in by_name.items():
        if name not in DECIDING_FIRST:
            said = experiment(name).verdict(result.table)
            given[said.question] = beside(given[said.question], said) if said.question in given else said
    return given


def question_of(result: Result) -> int:
    """Which question an experiment's table answers."""
    number: int = experiment(result.experiment).verdict(result.table).question
    return number


def beside(first: Verdict, second: Verdict) -> Verdict:
    """Two answers to one question, each of them standing: where they differ, it stays undecided."""
    return replace(
        joined([first, second]),
        answer=first.answer if first.answer == second.answer else "undecided",
        sentence=f"{first.sentence} {second.sentence}",
    )


def does_attention_matter(results: dict[str, Result]) -> Verdict | None:
    """Question 1. The ablation decides, since a task may be done as well without attention although single predictions
    move; where there are no right answers to count, the permutation does. Which single head is needed stands beside.
    """
    said = [experiment(name).verdict(results[name].table) for name in DECIDING_FIRST if name in results]
    return replace(joined(said), sentence=together(said)) if said else None


def joined(said: list[Verdict]) -> Verdict:
    """The first verdict, with what was done and found for all of them."""
    return replace(
        said[0],
        effects=tuple(effect for verdict in said for effect in verdict.effects),
        procedure=" ".join(verdict.procedure for verdict in said),
        means=" ".join(dict.fromkeys(verdict.means for verdict in said)),
        does_not_mean=" ".join(dict.fromkeys(verdict.does_not_mean for verdict in said)),
    )


def together(said: list[Verdict]) -> str:
    """The sentences of the verdicts in turn; where a later one says otherwise, how both can be true."""
    first, *others = said
    sentences = [first.sentence]
    for other in others:
        if (first.answer, other.answer) == ("no", "yes"):
            sentences.append("Yet single predictions of this very model lean on it.")
        elif (first.answer, other.answer) == ("yes", "no"):
            sentences.append("Yet it hardly matters which words get the weight.")
        sentences.append(other.sentence)
    return " ".join(dict.fromkeys(sentences))
