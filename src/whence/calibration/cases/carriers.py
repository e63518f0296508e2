"""Attention on words that do not matter: a first layer has moved the answer there, and the last one reads it.

The word attended to can be replaced by any that does not decide, and nothing changes; the deciding word, which has
hardly any attention, cannot. So the attention of the last layer is not faithful.
"""

from collections.abc import Sequence

from whence.calibration import claims
from whence.calibration.case import HEADLINE, Case, Claim, Kind, Known
from whence.calibration.cases.attends import scale_of
from whence.calibration.hand_set.bert import bert_classifier, linear_readout
from whence.calibration.hand_set.features import ONE, Head, by_distance, moving
from whence.calibration.hand_set.gpt2 import gpt2_classifier
from whence.calibration.hand_set.words import Scores, word_features, word_level
from whence.calibration.texts import Texts
from whence.data.examples import Corpus, Example
from whence.subject.subject import Subject

ANSWERS: dict[int, Known] = {1: "yes", 3: "no", 6: "no", HEADLINE: "no"}
CARRYING = {**moving("value", "carried"), "carried_mark": {"mark": 1.0}}
READING = Head([({ONE: 1.0}, {"carried_mark": 6.0, "score": 10.0})], moving("carried", "read"))
BY_MARK = Head([({ONE: 1.0}, {"mark": 14.0, "score": 10.0})], moving("value", "carried"))
FIRST_WORD = Head([({ONE: 1.0}, {"cos": 120.0, "score": 10.0})], moving("carried", "read"))
PLAIN = Scores(deciding=0.0)


def subject_of(seed: int, layers: Sequence[Sequence[Head]], features: dict[str, dict[str, float]]) -> Subject:
    """A BERT with these layers."""
    labels, readout = Texts().labels, linear_readout(2, scale_of(seed))
    return bert_classifier(features, layers, readout, labels, word_level(list(features)), "hand-set carrier")


def proof(subject: Subject, examples: Sequence[Example]) -> tuple[Claim, ...]:
    """What proves that the attended word does not matter, and that the deciding word has no attention."""
    return (
        claims.right(subject, examples),
        claims.attends_elsewhere(subject, examples),
        claims.attended_word_is_idle(subject, examples),
        claims.deciding_word_decides(subject, examples),
        claims.wrong_if_uniform(subject, examples),
    )


def case(subject: Subject, corpus: Corpus) -> Case:
    """A carrier to a place that must be attended."""
    examples = corpus["test"]
    decides = claims.attention_decides(subject, examples)
    return Case(subject, corpus, ANSWERS, (*proof(subject, examples), decides))


def next_word(seed: int, n: int) -> Case:
    """The first layer moves everything one word on."""
    layers = [[Head(by_distance(1), CARRYING)], [READING]]
    return case(subject_of(seed, layers, word_features(seed, PLAIN)), Texts(clear_end=1).corpus(seed, n))


def next_but_one(seed: int, n: int) -> Case:
    """The first layer moves everything two words on."""
    layers = [[Head(by_distance(2), CARRYING)], [READING]]
    return case(subject_of(seed, layers, word_features(seed, PLAIN)), Texts(clear_end=2).corpus(seed, n))


def decoder(seed: int, n: int) -> Case:
    """A GPT-2 whose first layer moves everything one word on."""
    features, texts = word_features(seed, PLAIN), Texts(clear_start=1, clear_end=1)  # the first word sees only itself
    logits = [{f"read{number}": scale_of(seed)} for number in range(texts.classes)]
    layers = [[Head(by_distance(1), CARRYING)], [READING]]
    tokenizer = word_level(list(features), framed=False)
    subject = gpt2_classifier(features, layers, logits, texts.labels, tokenizer, "hand-set carrying GPT-2")
    return case(subject, texts.corpus(seed, n))


def every_word(seed: int, n: int) -> Case:
    """The first layer moves the answer to every token; the last one attends to the first word, and any would do."""
    features = word_features(seed, Scores(deciding=-0.5, cls=-20.0))
    subject = subject_of(seed, [[BY_MARK], [FIRST_WORD]], features)
    corpus = Texts(clear_start=1).corpus(seed, n)
    idle = claims.attention_is_idle(subject, corpus["test"], at_most=0.005)
    answers: dict[int, Known] = {**ANSWERS, 5: "no"}
    return Case(subject, corpus, answers, (*proof(subject, corpus["test"]), idle))


KINDS = (
    Kind("carrier-next", "BERT, the answer is carried to the next word, which is attended", next_word),
    Kind("carrier-next-but-one", "the same, carried two words on", next_but_one),
    Kind("carrier-decoder", "GPT-2, the answer is carried to the next word", decoder),
    Kind("carrier-everywhere", "BERT, the answer is carried to all words; the first is attended", every_word),
)
