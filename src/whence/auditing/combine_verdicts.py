"""The rules that combine the verdicts of single experiments into one answer per question. No table, no model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from whence.results.verdict import NONE, Verdict

DECIDING_FIRST = ("ablation", "permutation", "representation_erasure")  # of question 1, in this order


def combine(by_experiment: Mapping[str, Verdict]) -> dict[int, Verdict]:
    """One verdict per question from those of the experiments; those that answer none of the six are left out."""
    deciding = [by_experiment[name] for name in DECIDING_FIRST if name in by_experiment]
    combined = {1: does_attention_matter(deciding)} if deciding else {}
    for name, verdict in by_experiment.items():
        number = verdict.question
        if name not in DECIDING_FIRST and number != NONE:
            combined[number] = both(combined[number], verdict) if number in combined else verdict
    return dict(sorted(combined.items()))


def both(first: Verdict, second: Verdict) -> Verdict:
    """Two verdicts of equal rank on one question: where their answers differ, it stays undecided."""
    return replace(
        joined([first, second]),
        answer=first.answer if first.answer == second.answer else "undecided",
        sentence=f"{first.sentence} {second.sentence}",
    )


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
