"""Long documents: each paragraph is explained alone and weighted by its share. After Yang et al. 2016, §2.2.

    score(t) = β_p · s(t) / Σ_(u in p) |s(u)|,   β_p = y_p / Σ_q y_q

s(t) is any method's score of a token in its paragraph p, and y_p the probability of the class that is explained when
the model reads p alone. The prediction for a document that is longer than the model can read is the mean of its
paragraphs' probabilities (as Sun et al. 2019, §5.3.1, take the mean over the fractions of a long text), so β_p is the
share of the prediction that comes from p. A hierarchical attention network has weights for both levels; its
`raw_attention` is their product.

Differs from Yang et al.: β is not learned, and is of paragraphs, not of sentences. Special tokens belong to no
paragraph and score zero, so that the absolute scores of a document sum to one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from whence.attribution.attribution import Attribution
from whence.core.errors import BadConfig, BadData
from whence.data.examples import Example
from whence.subject.batch import Batch
from whence.subject.named_targets import Question
from whence.subject.subject import Subject
from whence.subject.targets import Measure, Target

BATCH_SIZE = 8  # paragraphs


@dataclass(frozen=True, eq=False)
class Document:
    """A text in paragraphs, with the predicted probabilities of each; and what is asked of it."""

    paragraphs: tuple[str, ...]
    probabilities: Float[ndarray, "paragraph class"]
    measure: Measure = "margin"
    chosen: int | None = None  # the class to explain, if it is not the predicted one
    against: int | None = None  # the class that it is compared with

    @property
    def prediction(self) -> int:
        """The class with the highest mean probability."""
        return int(self.probabilities.mean(0).argmax())

    @property
    def explained(self) -> int:
        """The class that is explained."""
        return self.prediction if self.chosen is None else self.chosen

    @property
    def probability(self) -> float:
        """The probability of the predicted class for the whole document."""
        return float(self.probabilities[:, self.prediction].mean())

    @property
    def weights(self) -> Float[ndarray, " paragraph"]:
        """The share of each paragraph in the probability of the class that is explained."""
        mine = self.probabilities[:, self.explained]
        return mine / mine.sum()

    def target(self, n: int) -> Target:
        """What is explained of each of `n` paragraphs."""
        classes = torch.full((n,), self.explained)
        against = None if self.against is None else torch.full((n,), self.against)
        return Target(classes, torch.zeros_like(classes), self.measure, against)

    def describe(self, labels: Sequence[str]) -> str:
        """What is explained of each paragraph, in words."""
        if self.against is not None:
            return (
                f"explained: why {labels[self.explained]}, not {labels[self.against]}: the difference of their logits"
            )
        return f"explained: the {self.measure} of {labels[self.explained]}"


def split_paragraphs(subject: Subject, text: str) -> list[str]:
    """Split the text at empty lines; halve between words whatever is still longer than the model can read."""
    found = [" ".join(part.split()) for part in text.replace("\r\n", "\n").split("\n\n")]
    return [piece for part in found if part for piece in _fitting(subject, part)]


def _fitting(subject: Subject, text: str) -> list[str]:
    words = text.split()
    if len(words) < 2 or not bool(subject.read([Example(text)]).truncated[0]):
        return [text]
    middle = len(words) // 2
    return [piece for half in (words[:middle], words[middle:]) for piece in _fitting(subject, " ".join(half))]


def read_document(subject: Subject, text: str, question: Question | None = None) -> Document:
    """Split a text into paragraphs and predict each."""
    question = question or Question()
    if subject.task.name != "sequence-classification":
        raise BadConfig(
            "paragraphs are weighted by the probability of a text's class; expected a model for"
            f" sequence-classification, this model is for {subject.task.name} ({subject.task.about})"
        )
    pieces = split_paragraphs(subject, text)
    if not pieces:
        raise BadData("the text is empty; expected words to explain")
    found = [subject.predict(batch)[:, 0].cpu().double().numpy() for batch in _batches(subject, pieces)]
    number = subject.encoder.label_id
    chosen = None if question.answer is None else number(question.answer)
    against = None if question.against is None else number(question.against)
    return Document(tuple(pieces), np.concatenate(found), question.measure, chosen, against)


def _batches(subject: Subject, pieces: Sequence[str]) -> list[Batch]:
    groups = [pieces[begin : begin + BATCH_SIZE] for begin in range(0, len(pieces), BATCH_SIZE)]
    return [subject.encode([Example(piece) for piece in group]) for group in groups]


def token_words(subject: Subject, document: Document) -> list[str]:
    """For every token of all paragraphs, padding included, the word that it belongs to."""
    found: list[str] = []
    pieces = iter(document.paragraphs)
    for batch in _batches(subject, document.paragraphs):
        examples = [Example(next(pieces)) for _ in range(len(batch))]
        found += [word for row in subject.encoder.spelled(batch, examples) for word in row]
    return found


def explain_document(
    subject: Subject,
    document: Document,
    explain: Callable[..., Attribution],
    options: Mapping[str, Any],
) -> Attribution:
    """Score the tokens of a whole document by one method, as one text."""
    rows: list[Attribution] = []
    for batch in _batches(subject, document.paragraphs):
        made = explain(subject, batch, document.target(len(batch)), **options)
        rows += [_row(made, row) for row in range(len(batch))]
    scores = np.concatenate([w * paragraph_scores(one) for w, one in zip(document.weights, rows, strict=True)])
    begins = np.cumsum([0, *(int(one.word.max(initial=-1)) + 1 for one in rows[:-1])])
    words = [np.where(one.word[0] < 0, one.word[0], one.word[0] + at) for one, at in zip(rows, begins, strict=True)]
    how = f"{rows[0].how}; in each of {len(rows)} paragraphs, weighted by its share of the prediction"
    return Attribution(
        rows[0].method,
        how,
        scores[None].astype(np.float32),
        (tuple(token for one in rows for token in one.tokens[0]),),
        np.concatenate(words)[None],
        np.zeros_like(scores[None], dtype=int),
        np.concatenate([one.special[0] for one in rows])[None],
        np.zeros(1, dtype=int),
        rows[0].signed,
    )


def paragraph_scores(one: Attribution) -> Float[ndarray, " token"]:
    """The scores of one paragraph's tokens, their absolute values summing to one; zero for special tokens."""
    mine = np.where(one.special[0], 0.0, one.scores[0])
    total = np.abs(mine).sum()
    return mine / total if total > 0 else mine


def _row(made: Attribution, row: int) -> Attribution:
    one = slice(row, row + 1)
    arrays = {name: getattr(made, name)[one] for name in ("scores", "word", "segment", "special", "examples")}
    return replace(made, tokens=made.tokens[one], **arrays)
