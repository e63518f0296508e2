"""Claims that many proofs share."""

from collections.abc import Callable, Sequence

import numpy as np

from whence.calibration import measured
from whence.calibration.case import Claim
from whence.data.examples import Example
from whence.subject.subject import Subject

Words = Callable[[str], Sequence[str]]
MOST = 60  # texts on which words are replaced one by one: each takes a batch


def right(subject: Subject, examples: Sequence[Example], at_least: float = 1.0) -> Claim:
    """The model predicts the labels."""
    return Claim("accuracy", measured.accuracy(subject, examples), at_least=at_least)


def at_chance(subject: Subject, examples: Sequence[Example]) -> Claim:
    """The model is no better than the most frequent class, up to chance: labels are independent of the texts."""
    return Claim(
        "accuracy above the majority's, in standard errors", measured.above_chance(subject, examples), at_most=3.0
    )


def attends_to_deciding(subject: Subject, examples: Sequence[Example], at_least: float = 0.9) -> Claim:
    """The least share of the words' attention that deciding words have in any text."""
    least = min(shares_on_deciding(subject, examples))
    return Claim("least share of the words' attention on the deciding word", least, at_least=at_least)


def attends_elsewhere(subject: Subject, examples: Sequence[Example], at_most: float = 0.1) -> Claim:
    """The largest share of the words' attention that deciding words have in any text."""
    most = max(shares_on_deciding(subject, examples))
    return Claim("largest share of the words' attention on the deciding word", most, at_most=at_most)


def shares_on_deciding(subject: Subject, examples: Sequence[Example]) -> list[float]:
    """For each text the share of the words' attention that deciding words have."""
    weights = measured.word_weights(subject, examples)
    return [_marked(row, example) / float(row.sum()) for row, example in zip(weights, examples, strict=True)]


def _marked(weights: np.ndarray, example: Example) -> float:
    marks = np.array(example.rationale or ())
    return float(weights[: len(marks)][marks].sum())


def deciding_word_decides(
    subject: Subject, examples: Sequence[Example], classes: int = 2, at_least: float = 1.0
) -> Claim:
    """Replacing the deciding word by one of another class changes the decision."""
    some = examples[:MOST]
    others = measured.deciding_otherwise(classes)
    changed = measured.changed_by_words(subject, some, measured.deciding_places(some), others)
    return Claim("decisions changed by another deciding word", changed, at_least=at_least)


def attended_word_is_idle(
    subject: Subject, examples: Sequence[Example], at_most: float = 0.0, words: Words = measured.undeciding
) -> Claim:
    """Replacing the word with most attention by words that do not decide changes nothing."""
    some = examples[:MOST]
    changed = measured.changed_by_words(subject, some, measured.top_words(subject, some), words)
    return Claim("decisions changed by replacing the word with most attention", changed, at_most=at_most)


def other_words_are_idle(
    subject: Subject, examples: Sequence[Example], at_most: float = 0.0, words: Words = measured.undeciding
) -> Claim:
    """Replacing a word that does not decide by another such word changes nothing."""
    some = examples[:MOST]
    places = [int(np.argmin(example.rationale or ())) for example in some]
    changed = measured.changed_by_words(subject, some, places, words)
    return Claim("decisions changed by replacing a word that does not decide", changed, at_most=at_most)


def wrong_if_uniform(subject: Subject, examples: Sequence[Example], at_most: float = 0.5) -> Claim:
    """With uniform attention everywhere the model fails."""
    return Claim("accuracy with uniform attention", measured.accuracy_under_uniform(subject, examples), at_most=at_most)


def right_if_uniform(subject: Subject, examples: Sequence[Example], at_least: float = 1.0) -> Claim:
    """With uniform attention everywhere the model is as good."""
    return Claim(
        "accuracy with uniform attention", measured.accuracy_under_uniform(subject, examples), at_least=at_least
    )


def attention_decides(subject: Subject, examples: Sequence[Example], at_least: float = 0.5) -> Claim:
    """Random attention in the last layer changes decisions."""
    changed = measured.changed_by_attention(subject, examples)
    return Claim("decisions changed by random attention in the last layer", changed, at_least=at_least)


def attention_is_idle(subject: Subject, examples: Sequence[Example], at_most: float = 1e-3) -> Claim:
    """No random attention in the last layer moves a prediction."""
    moved = measured.moved_by_attention(subject, examples)
    return Claim("largest change of a probability under random attention in the last layer", moved, at_most=at_most)


def points_at_deciding(subject: Subject, examples: Sequence[Example], at_least: float = 1.0) -> Claim:
    """The word with most attention is a deciding one."""
    top = measured.top_words(subject, examples)
    found = [bool((example.rationale or ())[place]) for example, place in zip(examples, top, strict=True)]
    return Claim("texts whose deciding word has most attention", float(np.mean(found)), at_least=at_least)


def on_words(subject: Subject, examples: Sequence[Example], at_least: float, at_most: float) -> Claim:
    """The mean attention on words, and not on special tokens."""
    mass = float(np.mean([weights.sum() for weights in measured.word_weights(subject, examples)]))
    return Claim("mean attention on words", mass, at_least=at_least, at_most=at_most)


def attention_does_not_decide(subject: Subject, examples: Sequence[Example]) -> Claim:
    """Random attention in the last layer, not sharper than U(0, 1), changes no decision."""
    changed = measured.changed_by_attention(subject, examples, powers=(0.5, 1.0))
    return Claim("decisions changed by random attention, nearly uniform or U(0, 1)", changed, at_most=0.0)


def no_other_attention(subject: Subject, examples: Sequence[Example], at_most: float = 0.0) -> Claim:
    """No very different attention in the last layer keeps a decision."""
    kept = measured.kept_by_other_attention(subject, examples[:MOST])
    return Claim("decisions kept by very different attention in the last layer", kept, at_most=at_most)
