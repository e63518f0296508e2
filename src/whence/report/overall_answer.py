"""One answer in plain words from the available verdicts, never saying more than was tested."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from whence.results.verdict import QUESTIONS, Verdict

MATTERS, ASKABLE, FAITHFUL, TESTED, EXCLUSIVE, PLAUSIBLE = QUESTIONS
Word = Literal["yes", "no", "undecided", "not asked"]


@dataclass(frozen=True)
class Answer:
    """A word, a sentence, what to do, and which questions were asked for it."""

    word: Word
    sentence: str
    advice: str
    rests_on: str


def answer(verdicts: Mapping[int, Verdict]) -> Answer:
    """Is this attention an explanation? *Yes* asks that attention matters, at least in part, and is faithful; *no* asks
    for one of these two to be *no*; all else is undecided. Other questions qualify the answer and do not change it,
    except that there is no *yes* where the question cannot be asked or the tests fail.
    """
    word, sentence = _decided({number: verdict.answer for number, verdict in verdicts.items()})
    given = {number: verdicts[number].advice for number in (MATTERS, FAITHFUL) if number in verdicts}
    advice = " ".join(f"Question {number}: {words}" for number, words in given.items() if words)
    return Answer(word, sentence, advice, _rests_on(verdicts))


def _decided(answers: Mapping[int, str]) -> tuple[Word, str]:
    """The rules, in order: the first that fits decides."""
    if not set(answers) - {PLAUSIBLE}:
        return "not asked", "No question that could decide this was asked."
    if answers.get(MATTERS) == "no":
        return "no", "Little is lost without this attention, so the model's success does not rest on it."
    if answers.get(TESTED) == "no":
        return "undecided", "The tests failed on cases with a known answer, so what they say here cannot be trusted."
    if answers.get(FAITHFUL) == "no":
        return "no", "Where the model attends is not what its predictions rest on."
    if answers.get(ASKABLE) == "no":
        return (
            "undecided",
            "On this model the question cannot be asked well: its attention does not stand for its input.",
        )
    if answers.get(FAITHFUL) == "yes" and answers.get(MATTERS) in ("yes", "yes, in part"):
        return "yes", f"The model attends to the words that its predictions rest on{_qualified(answers)}."
    return "undecided", _open(answers)


def _qualified(answers: Mapping[int, str]) -> str:
    """What restricts a *yes*."""
    limits = []
    if answers[MATTERS] == "yes, in part":
        limits.append("only some replacements of its attention cost it anything")
    if answers.get(EXCLUSIVE) == "no":
        limits.append("very different attention would have given the same predictions")
    unsure = [number for number in (ASKABLE, TESTED, EXCLUSIVE) if answers.get(number) == "undecided"]
    limits += [f"{_listed(unsure)} stayed undecided"] if unsure else []
    return f"; but {', and '.join(limits)}" if limits else ", and they depend on where it attends"


def _open(answers: Mapping[int, str]) -> str:
    """Why the answer is neither yes nor no."""
    if answers.get(MATTERS) in ("yes", "yes, in part") and FAITHFUL not in answers:
        return (
            "The predictions depend on where the model attends. An explanation needs more: whether the words attended "
            "to are those that count (question 3) was not asked."
        )
    if MATTERS not in answers:
        return "Whether attention matters at all (question 1) was not asked."
    if answers[MATTERS] == "undecided":
        return "The evidence does not show whether the predictions depend on where the model attends."
    return "The evidence does not show whether the model attends to what its predictions rest on."


def _rests_on(verdicts: Mapping[int, Verdict]) -> str:
    """Which questions were asked, which were not, and that being plausible is another matter."""
    asked = [number for number in QUESTIONS if number in verdicts]
    rest = [number for number in QUESTIONS if number not in verdicts]
    if not asked:
        return "None of the six questions was asked."
    answers = f"Asked: {_listed(asked)}." + (f" Not asked: {_listed(rest)}." if rest else "")
    aside = " Question 6, whether people find it plausible, does not count for this answer."
    return answers + (aside if PLAUSIBLE in verdicts else "")


def _listed(numbers: Iterable[int]) -> str:
    """'question 3', 'questions 1, 3 and 4'."""
    words = [str(number) for number in numbers]
    if len(words) == 1:
        return f"question {words[0]}"
    return f"questions {', '.join(words[:-1])} and {words[-1]}"
