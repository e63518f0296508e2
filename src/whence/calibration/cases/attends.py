"""Attention on exactly the deciding word: it matters, is faithful, and no other attention would do.

One layer of one head gives the deciding word nearly all of its weight and moves what it speaks for. The other words
lean to another class, so that moving half of the weight changes the decision.
"""

from collections.abc import Callable, Sequence

from whence.calibration import claims
from whence.calibration.case import HEADLINE, Case, Claim, Kind, Known
from whence.calibration.hand_set.additive import additive_classifier
from whence.calibration.hand_set.bert import bert_classifier, linear_readout
from whence.calibration.hand_set.features import UNIT, Head, by_score, moving
from whence.calibration.hand_set.gpt2 import gpt2_classifier
from whence.calibration.hand_set.words import Scores, word_features, word_level
from whence.calibration.texts import Texts, with_noise
from whence.data.examples import Corpus, Example
from whence.data.rng import seeded_rng
from whence.subject.subject import Subject

ANSWERS: dict[int, Known] = {1: "yes", 2: "not no", 3: "yes", 5: "yes", 6: "yes", HEADLINE: "yes"}
READING = Head([by_score()], moving("value", "read"))
SCALES = (3.0, 6.0)  # of logits: probabilities of 0.95 to 0.998


def scale_of(seed: int) -> float:
    """The size of the logits, drawn by the seed."""
    return float(seeded_rng(seed, "scale").uniform(*SCALES))


def attends(seed: int, heads: Sequence[Head] = (READING,), times: float = 1.0, texts: Texts | None = None) -> Subject:
    """A BERT of one layer with these heads."""
    made, features = texts or Texts(), word_features(seed, Scores())
    readout = linear_readout(made.classes, times * scale_of(seed))
    return bert_classifier(features, [heads], readout, made.labels, word_level(list(features)))


def proof(subject: Subject, examples: Sequence[Example], accuracy: float = 1.0) -> tuple[Claim, ...]:
    """What proves that attention is on the deciding word, that it decides, and that other attention does not do."""
    return (
        claims.right(subject, examples, accuracy),
        claims.attends_to_deciding(subject, examples),
        claims.deciding_word_decides(subject, examples, len(set(subject.labels))),
        claims.other_words_are_idle(subject, examples),
        claims.wrong_if_uniform(subject, examples),
        claims.no_other_attention(subject, examples),
    )


def case(subject: Subject, corpus: Corpus, accuracy: float = 1.0) -> Case:
    """A case of these answers."""
    return Case(subject, corpus, ANSWERS, proof(subject, corpus["test"], accuracy))


def bert(seed: int, n: int) -> Case:
    """A BERT."""
    return case(attends(seed), Texts().corpus(seed, n))


def three_classes(seed: int, n: int) -> Case:
    """A BERT with three classes."""
    texts = Texts(classes=3)
    return case(attends(seed, texts=texts), texts.corpus(seed, n))


def long_texts(seed: int, n: int) -> Case:
    """A BERT on texts of 13 to 16 words."""
    return case(attends(seed), Texts(shortest=13, longest=16).corpus(seed, n))


def unequal_classes(seed: int, n: int) -> Case:
    """A BERT where seven texts in ten are of one class."""
    return case(attends(seed), Texts(shares=(0.7, 0.3)).corpus(seed, n))


def noisy(seed: int, n: int) -> Case:
    """A BERT where a fifth of the labels is wrong."""
    return case(attends(seed), with_noise(Texts().corpus(seed, n), 0.2, seed), accuracy=0.79)


def decoder(seed: int, n: int) -> Case:
    """A GPT-2, which reads the deciding word from the last one."""
    texts, features = Texts(), word_features(seed, Scores())
    logits = [{f"read{number}": scale_of(seed)} for number in range(texts.classes)]
    tokenizer = word_level(list(features), framed=False)
    return case(gpt2_classifier(features, [[READING]], logits, texts.labels, tokenizer), texts.corpus(seed, n))


def pooled(seed: int, n: int) -> Case:
    """A model with one attention over words that are read each by itself."""
    texts, features = Texts(), word_features(seed, Scores())
    subject = additive_classifier(features, scale_of(seed), UNIT, texts.labels, word_level(list(features)))
    return case(subject, texts.corpus(seed, n))


def rescaled(times: float) -> Callable[[int, int], Case]:
    """A BERT whose logits are multiplied: the same decisions, the same attention."""
    return lambda seed, n: case(attends(seed, times=times), Texts().corpus(seed, n))


KINDS = (
    Kind("attends", "BERT, one head on the deciding word", bert),
    Kind("attends-three-classes", "the same with three classes", three_classes),
    Kind("attends-long", "the same on longer texts", long_texts),
    Kind("attends-unequal", "the same, seven texts in ten of one class", unequal_classes),
    Kind("attends-noise", "the same, a fifth of the labels wrong", noisy),
    Kind("attends-decoder", "GPT-2, the last token attends to the deciding word", decoder),
    Kind("attends-pool", "one attention over words, on the deciding word", pooled),
    Kind("attends-logits-tenth", "BERT, its logits divided by ten", rescaled(0.1)),
    Kind("attends-logits-tenfold", "BERT, its logits multiplied by ten", rescaled(10.0)),
)
