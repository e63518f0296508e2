"""Predictions that do not pass through attention: residual paths carry the answer, and no attention can matter."""

from collections.abc import Sequence
from dataclasses import replace

from whence.calibration import claims
from whence.calibration.case import HEADLINE, Case, Claim, Kind, Known
from whence.calibration.cases.attends import scale_of
from whence.calibration.hand_set.bert import bert_tagger
from whence.calibration.hand_set.features import Head, by_score
from whence.calibration.hand_set.gpt2 import gpt2_classifier
from whence.calibration.hand_set.transformer import transformer_classifier
from whence.calibration.hand_set.words import Scores, word_features, word_level
from whence.calibration.texts import LABELS, Texts, speaks_for
from whence.data.examples import Corpus, Example
from whence.subject.subject import Subject

ANSWERS: dict[int, Known] = {1: "no", 3: "no", 5: "no", 6: "no", HEADLINE: "no"}
LOOKING = Head([by_score()])  # attends by the words' scores, and moves nothing
ASIDE = Scores(deciding=-1.0, spread=0.3)  # sharp attention, on any word but the deciding one


def proof(subject: Subject, examples: Sequence[Example]) -> tuple[Claim, ...]:
    """What proves that the model is right whatever it attends to."""
    return (
        claims.right(subject, examples),
        claims.right_if_uniform(subject, examples),
        claims.attention_is_idle(subject, examples, at_most=1e-4),
    )


def aside(subject: Subject, examples: Sequence[Example]) -> tuple[Claim, ...]:
    """What proves that attention is on other words than the deciding one."""
    return (
        claims.attends_elsewhere(subject, examples),
        claims.attended_word_is_idle(subject, examples),
        claims.deciding_word_decides(subject, examples),
    )


def mean_of_words(seed: int, n: int) -> Case:
    """The mean of all tokens is read, each as it came in."""
    subject, corpus = _mean(seed, LOOKING, ASIDE), Texts(leaning=False).corpus(seed, n)
    examples = corpus["test"]
    return Case(subject, corpus, ANSWERS, (*proof(subject, examples), *aside(subject, examples)))


def mean_uniform(seed: int, n: int) -> Case:
    """The same, with uniform attention, which points at nothing."""
    subject, corpus = _mean(seed, Head(), ASIDE), Texts(leaning=False).corpus(seed, n)
    answers: dict[int, Known] = {1: "no", 3: "not yes", 5: "no", HEADLINE: "no"}
    return Case(subject, corpus, answers, proof(subject, corpus["test"]))


def _mean(seed: int, head: Head, scores: Scores) -> Subject:
    texts, features = Texts(), word_features(seed, scores, leaning=0.0)
    logits = [{f"value{number}": 8 * scale_of(seed)} for number in range(texts.classes)]
    tokenizer = word_level(list(features), framed=False)
    return transformer_classifier(features, [[head]], logits, texts.labels, tokenizer, "past attention")


def last_word(seed: int, n: int) -> Case:
    """A GPT-2 whose last word decides; it attends to others, and moves nothing."""
    texts, features = Texts(decides_last=True), word_features(seed, ASIDE)
    logits = [{f"value{number}": scale_of(seed)} for number in range(texts.classes)]
    tokenizer = word_level(list(features), framed=False)
    subject = gpt2_classifier(features, [[LOOKING]], logits, texts.labels, tokenizer, "past attention, GPT-2")
    corpus = texts.corpus(seed, n)
    return Case(subject, corpus, ANSWERS, (*proof(subject, corpus["test"]), *aside(subject, corpus["test"])))


def tagger(seed: int, n: int) -> Case:
    """A BERT that tags each word by itself: with the class it speaks for, and plain words with the third."""
    features = word_features(seed, ASIDE)
    logits = [{f"value{number}": scale_of(seed)} for number in range(2)] + [{"anchor": scale_of(seed) / 200}]
    subject = bert_tagger(features, [[LOOKING]], logits, LABELS, word_level(list(features)), "past attention, tagger")
    corpus = Texts().corpus(seed, n)
    examples = tuple(_tagged(example) for example in corpus["test"])
    answers: dict[int, Known] = {1: "no", 3: "not yes", 5: "no", HEADLINE: "no"}
    return Case(subject, Corpus(corpus.name, {"test": examples}, LABELS), answers, proof(subject, examples))


def _tagged(example: Example) -> Example:
    tags = tuple(LABELS[speaks_for().get(word, 2)] for word in example.words or ())
    return replace(example, label=None, rationale=None, tags=tags)


KINDS = (
    Kind("past-mean", "transformer read by the mean of its tokens; attends elsewhere and moves nothing", mean_of_words),
    Kind("past-mean-uniform", "the same with uniform attention", mean_uniform),
    Kind("past-decoder", "GPT-2 whose last word decides; attends elsewhere and moves nothing", last_word),
    Kind("past-tagger", "BERT that tags each word by itself", tagger),
)
