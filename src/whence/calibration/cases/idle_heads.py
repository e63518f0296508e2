"""Idle heads in addition to one that attends to the deciding word: the answers must not change.

An idle head moves nothing from key to query, so no attention of it can matter. Its weights are uniform, or follow the
position, but leave the deciding word that with most attention on the mean of the heads.
"""

from collections.abc import Callable

from whence.calibration import claims
from whence.calibration.case import Case, Kind
from whence.calibration.cases.attends import ANSWERS, READING, attends
from whence.calibration.hand_set.features import ONE, Head
from whence.calibration.texts import Texts
from whence.data.examples import Corpus
from whence.subject.subject import Subject

UNIFORM = Head()
BY_POSITION = (
    Head([({ONE: 1.0}, {"cos": 1.5})]),
    Head([({ONE: 1.0}, {"sin": 1.5})]),
    Head([({ONE: 1.0}, {"cos": -1.5})]),
)


def idle(count: int) -> Callable[[int, int], Case]:
    """One working head and this many uniform ones."""
    return lambda seed, n: case(attends(seed, [READING, *[UNIFORM] * count]), Texts().corpus(seed, n))


def one_of_four(seed: int, n: int) -> Case:
    """Four heads, one of which works; which one, the seed says. The others look at places."""
    heads = list(BY_POSITION)
    heads.insert(seed % 4, READING)
    return case(attends(seed, heads), Texts().corpus(seed, n))


def case(subject: Subject, corpus: Corpus) -> Case:
    """A case with the answers of the model without idle heads."""
    examples = corpus["test"]
    proof = (
        claims.right(subject, examples),
        claims.points_at_deciding(subject, examples),
        claims.deciding_word_decides(subject, examples),
        claims.other_words_are_idle(subject, examples),
        claims.wrong_if_uniform(subject, examples),
        claims.attention_decides(subject, examples),
    )
    return Case(subject, corpus, ANSWERS, proof)


KINDS = (
    Kind("idle-1", "BERT, one head on the deciding word and 1 idle", idle(1)),
    Kind("idle-3", "BERT, one head on the deciding word and 3 idle", idle(3)),
    Kind("idle-7", "BERT, one head on the deciding word and 7 idle", idle(7)),
    Kind("one-head-of-four", "BERT, one head works and three look at places", one_of_four),
)
