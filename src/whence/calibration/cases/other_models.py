"""Relatives of BERT with the same weights, and more layers: what is known of the small models holds for these.

A first layer that reads the deciding word into [CLS] leaves nothing to the last one, whose attention is then idle.
"""

from collections.abc import Callable, Sequence

from whence.calibration import claims
from whence.calibration.case import HEADLINE, Case, Kind, Known
from whence.calibration.cases import attends, carriers
from whence.calibration.hand_set.bert import bert_classifier, linear_readout
from whence.calibration.hand_set.features import Head, by_distance
from whence.calibration.hand_set.relatives import as_distilbert, as_roberta
from whence.calibration.hand_set.words import Scores, word_features, word_level
from whence.calibration.texts import Texts
from whence.subject.subject import Subject

IDLE, READ = Head(), carriers.READING
CARRY_ON, CARRY_BACK = Head(by_distance(1), carriers.CARRYING), Head(by_distance(-1), carriers.CARRYING)


def attending_relative(make: Callable[[Subject], Subject], texts: Texts) -> Callable[[int, int], Case]:
    """A relative of BERT that attends to the deciding word."""
    return lambda seed, n: attends.case(make(attends.attends(seed, texts=texts)), texts.corpus(seed, n))


def third_layer(seed: int, n: int) -> Case:
    """Two layers do nothing; the third attends to the deciding word."""
    features = word_features(seed, Scores())
    readout = linear_readout(2, attends.scale_of(seed))
    layers = [[IDLE], [IDLE], [attends.READING]]
    subject = bert_classifier(features, layers, readout, Texts().labels, word_level(list(features)), "three layers")
    return attends.case(subject, Texts().corpus(seed, n))


def carrying(
    layers: Sequence[Sequence[Head]], texts: Texts, make: Callable[[Subject], Subject] = lambda subject: subject
) -> Callable[[int, int], Case]:
    """A carrier with these layers, or its relative."""

    def made(seed: int, n: int) -> Case:
        subject = carriers.subject_of(seed, layers, word_features(seed, carriers.PLAIN))
        return carriers.case(make(subject), texts.corpus(seed, n))

    return made


def read_early(seed: int, n: int) -> Case:
    """The first layer reads the deciding word into [CLS]; the attention of the last is uniform and moves nothing."""
    features, corpus = word_features(seed, Scores()), Texts().corpus(seed, n)
    subject = carriers.subject_of(seed, [[attends.READING], [IDLE]], features)
    examples = corpus["test"]
    proof = (
        claims.right(subject, examples),
        claims.deciding_word_decides(subject, examples),
        claims.wrong_if_uniform(subject, examples),
        claims.attention_is_idle(subject, examples),
    )
    answers: dict[int, Known] = {1: "yes", 3: "not yes", 5: "no", HEADLINE: "not yes"}
    return Case(subject, corpus, answers, proof)


NEXT, BEFORE = Texts(clear_end=1), Texts(clear_start=1)
KINDS = (
    Kind("attends-roberta", "RoBERTa on the deciding word", attending_relative(as_roberta, Texts())),
    Kind("attends-distilbert", "DistilBERT, three classes", attending_relative(as_distilbert, Texts(classes=3))),
    Kind("attends-third-layer", "BERT of three layers, of which the last attends", third_layer),
    Kind("carrier-roberta", "RoBERTa, carried to the next word", carrying([[CARRY_ON], [READ]], NEXT, as_roberta)),
    Kind(
        "carrier-third-layer", "BERT, the second of three layers carries", carrying([[IDLE], [CARRY_ON], [READ]], NEXT)
    ),
    Kind("carrier-before", "BERT, carried to the word before", carrying([[CARRY_BACK], [READ]], BEFORE)),
    Kind("read-early", "BERT, the first layer reads, the last is idle", read_early),
)
