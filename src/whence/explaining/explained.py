"""What is explained of a text: the number that the scores are of, and where it is predicted, in words."""

from dataclasses import dataclass

import torch

from whence.explaining.options import ExplainOptions
from whence.subject.batch import Batch
from whence.subject.named_targets import Question
from whence.subject.subject import Subject
from whence.subject.targets import Measure, Target


@dataclass(frozen=True)
class Explained:
    """The number that is explained: of which class or word, how probable that is, and measured how."""

    target: str
    probability: float
    measure: Measure
    value: float
    against: str = ""  # the class that it is compared with, if one was named

    @property
    def sentence(self) -> str:
        """What is explained, with its value, in words."""
        if self.against:
            return f"why {self.target}, not {self.against}: the difference of their logits, {self.value:+.2f}"
        if self.measure == "probability":
            return f"the probability of {self.target}, {self.value:.3f}"
        over = " over the best other's" if self.measure == "margin" else ""
        return f"the {'margin of the ' * bool(over)}logit of {self.target}{over}, {self.value:+.2f}"


def question_of(options: ExplainOptions, subject: Subject) -> Question:
    """What is asked: a translator's `target` is its text, of all other models it is a class or a word."""
    answer = None if subject.task.needs == "target" else options.target
    return Question(options.measure, answer, options.against, options.at)


def read_prediction(subject: Subject, batch: Batch, explained: Target) -> tuple[str, float]:
    """What the model predicts where it is explained, and its probability, NaN for a model that predicts a value."""
    at = subject.predict(batch)[0, int(explained.positions[0])]
    if subject.task.predicts_values:
        return f"the value {float(at[0]):+.3f}", float("nan")
    return class_name(subject, int(at.argmax())), float(at.max())


def read_explained(subject: Subject, batch: Batch, target: Target) -> Explained | None:
    """The number that is explained of the batch's only text."""
    if subject.task.predicts_values:
        return None
    number = int(target.classes[0])
    probability = float(subject.predict(batch)[0, int(target.positions[0]), number])
    with torch.no_grad():
        value = float(target.of(subject.logits(batch))[0])
    against = "" if target.against is None else class_name(subject, int(target.against[0]))
    return Explained(class_name(subject, number), probability, target.measure, value, against)


def describe_position(subject: Subject, batch: Batch, explained: Target) -> str:
    """At which position the explained prediction is made, in words; empty where a text has one prediction."""
    position = int(explained.positions[0])
    if subject.task.needs == "label" or subject.task.predicts_values:
        return ""
    if subject.task.needs == "target":
        return f"where the target has {class_name(subject, int(batch.labels[0, position]))!r}"
    return f"{'of' if subject.task.needs == 'tags' else 'after'} {batch.tokens[0][position]!r}"


def class_name(subject: Subject, number: int) -> str:
    """The name of a class, or the token of a vocabulary."""
    if subject.task.needs in ("label", "tags"):
        return subject.labels[number]
    return str(subject.tokenizer.convert_ids_to_tokens(number))
