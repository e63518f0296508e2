"""Uniform attention would do, or nearly: attention that is uniform, that need not be sharp, and that must be some."""

from whence.calibration import claims, measured
from whence.calibration.case import HEADLINE, Case, Claim, Kind, Known
from whence.calibration.cases.attends import READING, scale_of
from whence.calibration.hand_set.bert import bert_classifier, linear_readout
from whence.calibration.hand_set.words import Scores, word_features, word_level
from whence.calibration.texts import Texts
from whence.core.overrides import permuted
from whence.subject.subject import Subject


def _subject(seed: int, scores: Scores, leaning: float) -> Subject:
    features = word_features(seed, scores, leaning)
    readout = linear_readout(2, 6 * scale_of(seed))
    return bert_classifier(features, [[READING]], readout, Texts().labels, word_level(list(features)), "uniform")


def suffices(seed: int, n: int) -> Case:
    """Attention is uniform, and only deciding words have a value: any weight on them is enough."""
    subject, corpus = _subject(seed, Scores(deciding=0.0, spread=0.0), 0.0), Texts().corpus(seed, n)
    examples = corpus["test"]
    proof = (
        claims.right(subject, examples),
        claims.right_if_uniform(subject, examples),
        claims.attention_does_not_decide(subject, examples),
    )
    return Case(subject, corpus, {1: "no", 3: "not yes", HEADLINE: "no"}, proof)


def sharp_without_need(seed: int, n: int) -> Case:
    """Attention is on the deciding word, and uniform attention would do as well."""
    subject, corpus = _subject(seed, Scores(), 0.0), Texts().corpus(seed, n)
    examples = corpus["test"]
    proof = (
        claims.right(subject, examples),
        claims.right_if_uniform(subject, examples),
        claims.attends_to_deciding(subject, examples),
        claims.deciding_word_decides(subject, examples),
        claims.attention_does_not_decide(subject, examples),
    )
    answers: dict[int, Known] = {1: "no", 3: "not no", 6: "yes", HEADLINE: "not yes"}
    return Case(subject, corpus, answers, proof)


def ablations_contradict(seed: int, n: int) -> Case:
    """Uniform attention loses nothing, shuffled attention nearly all: it matters, though not by how sharp it is."""
    subject, corpus = _subject(seed, Scores(deciding=0.7, spread=0.0), 0.08), Texts().corpus(seed, n)
    examples = corpus["test"]
    shuffled = measured.under(subject, examples, permuted(seed)).argmax(-1).numpy()
    right = float((shuffled == measured.labels_of(subject, examples)).mean())
    proof = (
        claims.right(subject, examples),
        claims.right_if_uniform(subject, examples, at_least=0.99),
        Claim("accuracy with shuffled attention", right, at_most=0.5),
        claims.attends_to_deciding(subject, examples),
        claims.deciding_word_decides(subject, examples),
    )
    return Case(subject, corpus, {1: "not no", 3: "yes", 6: "yes", HEADLINE: "not no"}, proof)


KINDS = (
    Kind("uniform-suffices", "BERT with uniform attention, and nothing else is needed", suffices),
    Kind("sharp-without-need", "BERT on the deciding word, where uniform attention would do", sharp_without_need),
    Kind("ablations-contradict", "BERT: uniform attention loses nothing, shuffled nearly all", ablations_contradict),
)
