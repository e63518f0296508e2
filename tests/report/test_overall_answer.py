import itertools
from dataclasses import replace

import pytest

from whence.report.overall_answer import answer
from whence.results.verdict import Verdict


def said(**answers):
    short = {"y": "yes", "p": "yes, in part", "n": "no", "u": "undecided"}
    return {int(name[1]): Verdict(int(name[1]), short[word], "", (), "", "", "") for name, word in answers.items()}


@pytest.mark.parametrize(
    ("verdicts", "word", "part"),
    [
        (said(), "not asked", "No question"),
        (said(q6="y"), "not asked", "No question"),
        (said(q1="n"), "no", "Little is lost"),
        (said(q1="n", q3="y"), "no", "Little is lost"),
        (said(q1="y"), "undecided", "question 3.* was not asked"),
        (said(q1="u"), "undecided", "does not show whether the predictions depend"),
        (said(q3="y"), "undecided", "question 1.* was not asked"),
        (said(q1="y", q3="n"), "no", "not what its predictions rest on"),
        (said(q1="y", q3="u"), "undecided", "does not show whether the model attends"),
        (said(q1="y", q3="y"), "yes", "rest on, and they depend on where it attends"),
        (said(q1="p", q3="y"), "yes", "rest on; but only some replacements"),
        (said(q1="p", q3="n"), "no", "not what its predictions rest on"),
        (said(q1="p"), "undecided", "question 3.* was not asked"),
        (said(q1="y", q3="y", q4="n"), "undecided", "cannot be trusted"),
        (said(q1="y", q3="n", q4="n"), "undecided", "cannot be trusted"),
        (said(q1="y", q2="n", q3="y"), "undecided", "cannot be asked well"),
        (said(q1="y", q2="n", q3="u"), "undecided", "cannot be asked well"),
        (said(q1="y", q2="n", q3="n"), "no", "not what its predictions rest on"),
        (said(q1="y", q3="y", q5="n"), "yes", "but very different attention"),
        (said(q1="y", q3="y", q4="u", q5="u"), "yes", "but questions 4 and 5 stayed undecided"),
    ],
)
def test_the_rules(verdicts, word, part):
    import re

    given = answer(verdicts)
    assert given.word == word
    assert re.search(part, given.sentence)


def test_being_plausible_never_changes_the_answer():
    for words in itertools.product(["yes", "no", "undecided", None], repeat=5):
        asked = {n: Verdict(n, word, "", (), "", "", "") for n, word in enumerate(words, 1) if word}
        without = answer(asked)
        for plausible in ("yes", "no"):
            assert answer(asked | {6: Verdict(6, plausible, "", (), "", "", "")}).sentence == without.sentence
        if without.word == "yes":
            assert words[0] == words[2] == "yes"
            assert "no" not in (words[1], words[3])  # the question can be asked, and the tests work


def test_it_says_what_was_asked():
    assert answer(said(q1="y")).rests_on == "Asked: question 1. Not asked: questions 2, 3, 4, 5 and 6."
    assert answer(said()).rests_on == "None of the six questions was asked."
    assert answer(said(q6="y")).rests_on.endswith("does not count for this answer.")


def test_advice_names_its_question():
    asked = said(q1="y", q3="u")
    asked[3] = replace(asked[3], advice="About 400 texts would decide it (there were 50).")
    assert answer(asked).advice == "Question 3: About 400 texts would decide it (there were 50)."
    assert answer(said(q1="y", q3="u")).advice == ""
