"""What annotators are asked: the question, the answers to choose from, and the instructions, for each kind of study."""

from dataclasses import dataclass
from typing import Literal

TaskName = Literal["relevance", "preference", "marking"]
SKIP = "skip"  # an annotator who cannot say; counts as missing


@dataclass(frozen=True)
class Task:
    """One kind of question. `choices` are the answers with the key that gives each; a marking has none, its answer is a
    list of words.
    """

    name: TaskName
    question: str
    choices: dict[str, str]  # answer -> key of the keyboard
    instructions: tuple[str, ...]
    panels: int  # highlighted versions of the text that are shown
    examples: tuple["Shown", ...]


@dataclass(frozen=True)
class Shown:
    """A made-up example for the instructions: a text with *highlighted* words, a prediction, the answer and why."""

    texts: tuple[str, ...]
    prediction: str
    answer: str
    why: str


_WHAT = "A program has read each text and made a prediction, which stands above the text."
_SAME = "Judge the words, not the prediction: it may be right or wrong, and you need not say which."
_SKIP = "If you cannot say, skip the item. You can go back and change an answer, and you can pause at any time."

TASKS: dict[TaskName, Task] = {
    "relevance": Task(
        "relevance",
        "Are the highlighted words relevant for this prediction?",
        {"yes": "y", "no": "n"},
        (
            _WHAT,
            "Some words are highlighted. Say whether these words are relevant for the prediction: would somebody who"
            " reads only them expect it?",
            "Answer yes if most of them are, and no if they could stand in a text with any other prediction.",
            _SAME,
            _SKIP,
        ),
        1,
        (
            Shown(
                ("The plot is thin but the music is *wonderful* and we *laughed* *loudly* .",),
                "positive",
                "yes",
                "These words alone let one expect it.",
            ),
            Shown(
                ("*The* plot is thin but *the* music *is* wonderful and we laughed loudly .",),
                "positive",
                "no",
                "These words stand in any text.",
            ),
            Shown(
                ("The *plot* is *thin* but the music is wonderful and *we* laughed loudly .",),
                "negative",
                "yes",
                "They speak for this prediction; whether it is right does not matter here.",
            ),
        ),
    ),
    "preference": Task(
        "preference",
        "Which highlighted words explain this prediction better?",
        {"first": "1", "second": "2", "same": "0"},
        (
            _WHAT,
            "You see the same text twice, each time with other words highlighted. Say which of the two explains the"
            " prediction better, or that they are equally good.",
            _SAME,
            _SKIP,
        ),
        2,
        (
            Shown(
                ("The music is *wonderful* and we laughed .", "*The* music is wonderful and we laughed ."),
                "positive",
                "first",
                "wonderful explains the prediction, the does not.",
            ),
        ),
    ),
    "marking": Task(
        "marking",
        "Which words decide this prediction?",
        {},
        (
            _WHAT,
            "Mark the words that decide: those from which somebody would expect this prediction. Mark as few as will"
            " do. A word is marked and unmarked by clicking on it.",
            _SAME,
            _SKIP,
        ),
        0,
        (
            Shown(
                ("The plot is thin but the music is *wonderful* and we *laughed* loudly .",),
                "positive",
                "marked",
                "These two words are enough.",
            ),
        ),
    ),
}
CHECK_TEXT = "This is not a text of the study but a check that items are read . Please answer : {answer} ."
MARKING_CHECK = "This is not a text of the study but a check that items are read . Please mark only the word {answer} ."
