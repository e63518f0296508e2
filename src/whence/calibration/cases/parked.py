"""Most weight on [SEP], a sink that says nothing (Clark et al. 2019; Kobayashi et al. 2020); what about the rest?"""

import math

from whence.calibration import claims
from whence.calibration.case import HEADLINE, Case, Kind, Known
from whence.calibration.cases.attends import READING, scale_of
from whence.calibration.cases.carriers import BY_MARK, subject_of
from whence.calibration.hand_set.bert import bert_classifier, linear_readout
from whence.calibration.hand_set.features import UNIT, Head, by_score, moving
from whence.calibration.hand_set.words import Scores, word_features, word_level
from whence.calibration.texts import Texts
from whence.subject.subject import Subject

SHARE = 0.9  # of the weight, on [SEP]
DECIDING = 0.6
SEP = DECIDING + math.log(SHARE / (1 - SHARE)) / UNIT
READ_CARRIED = Head([by_score()], moving("carried", "read"))


def rest_decides(seed: int, n: int) -> Case:
    """A tenth of the weight is on words, nearly all of it on the deciding one; [SEP] has no value."""
    texts, features = Texts(), word_features(seed, Scores(deciding=DECIDING, sep=SEP))
    readout = linear_readout(2, scale_of(seed) / (1 - SHARE))
    subject = bert_classifier(features, [[READING]], readout, texts.labels, word_level(list(features)), "parked")
    corpus = texts.corpus(seed, n)
    examples = corpus["test"]
    proof = (
        claims.right(subject, examples),
        claims.on_words(subject, examples, at_least=0.05, at_most=0.2),
        claims.attends_to_deciding(subject, examples),
        claims.deciding_word_decides(subject, examples),
        claims.other_words_are_idle(subject, examples),
        claims.wrong_if_uniform(subject, examples),
        claims.attention_decides(subject, examples),
    )
    answers: dict[int, Known] = {1: "yes", 3: "yes", 5: "not no", 6: "yes", HEADLINE: "not no"}
    return Case(subject, corpus, answers, proof)


def rest_is_free(seed: int, n: int) -> Case:
    """A first layer has moved the answer to all tokens; the last has nine tenths on [SEP], the rest anywhere."""
    scores = Scores(deciding=-0.3, sep=0.0 + math.log(9 * 10) / UNIT, spread=0.2)
    return _carried(subject_of(seed, [[BY_MARK], [READ_CARRIED]], word_features(seed, scores)), seed, n)


def nothing_left(seed: int, n: int) -> Case:
    """The same with 99.9 % on [SEP]: there is hardly any weight to move."""
    scores = Scores(deciding=-0.3, sep=math.log(999 * 10) / UNIT, spread=0.2)
    return _carried(subject_of(seed, [[BY_MARK], [READ_CARRIED]], word_features(seed, scores)), seed, n, little=True)


def _carried(subject: Subject, seed: int, n: int, little: bool = False) -> Case:
    corpus = Texts().corpus(seed, n)
    least, most = (0.0, 0.01) if little else (0.02, 0.35)  # of the weight on words
    examples = corpus["test"]
    proof = (
        claims.right(subject, examples),
        claims.on_words(subject, examples, at_least=least, at_most=most),
        claims.attends_elsewhere(subject, examples),
        claims.attended_word_is_idle(subject, examples),
        claims.deciding_word_decides(subject, examples),
        claims.wrong_if_uniform(subject, examples),
        claims.attention_is_idle(subject, examples, at_most=0.005),
    )
    answers: dict[int, Known] = {1: "yes", 2: "no" if little else "not yes", 3: "no", 5: "not yes", 6: "no"}
    answers[HEADLINE] = "not yes"
    return Case(subject, corpus, answers, proof)


KINDS = (
    Kind("parked-rest-decides", "BERT, 90 % on [SEP], the rest on the deciding word", rest_decides),
    Kind("parked-rest-free", "BERT, 90 % on [SEP], the rest on words that do not matter", rest_is_free),
    Kind("parked-nothing-left", "BERT, 99.9 % on [SEP]", nothing_left),
)
