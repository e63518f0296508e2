"""What is explained, named by the user: a class, a word of a target or of a text, and what it is compared with."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import torch

from whence.core.errors import BadConfig, BadData
from whence.data.examples import Example
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Measure, Target, predicted


@dataclass(frozen=True)
class Question:
    """What is asked of a prediction: why this `answer` (a class, or a language model's next word; by default what the
    model predicts), `at` which word, and why not another (`against`).
    """

    measure: Measure = "margin"
    answer: str | None = None
    against: str | None = None
    at: str | None = None

    def __post_init__(self) -> None:
        if self.against is not None and self.measure != "margin":
            raise BadConfig(
                f"why one class and not another is the difference of their logits (measure margin); came the measure"
                f" {self.measure!r}: leave it out, or leave out what it is compared with"
            )


def asked(subject: Subject, batch: Batch, examples: list[Example], question: Question) -> Target:
    """The target of every text of a batch that a question is about."""
    target = predicted(subject, batch, question.measure)
    if subject.task.predicts_values:
        if question.answer or question.against or question.at:
            raise BadConfig("this model predicts a value and no class; leave out target, against and at")
        return target
    if question.at is not None:
        target = _at_word(subject, batch, examples, target, question.at)
    classes = target.classes
    if question.answer is not None:
        classes = _classes(subject, batch, examples, target, question.answer)
    if question.against is None:
        return Target(classes, target.positions, question.measure)
    against = _classes(subject, batch, examples, target, question.against)
    if bool((against == classes).any()):
        raise BadConfig(f"{question.against!r} is what is explained; compare it with another: --against")
    return Target(classes, target.positions, question.measure, against)


def _classes(subject: Subject, batch: Batch, examples: list[Example], target: Target, name: str) -> torch.Tensor:
    """The number of a class by its name; of a model of words, the first token of that word where it would stand."""
    if subject.task.needs in ("label", "tags"):
        try:
            return torch.full((len(batch),), subject.encoder.label_id(name))
        except BadData as error:
            known, _, _ = str(error).partition(". Rename")
            raise BadData(f"{known}. Choose one of these as what is explained (--target, --against)") from None
    found = [
        _next_token(_reading(subject), _before(subject, example, int(position)), name)
        for example, position in zip(examples, target.positions.tolist(), strict=True)
    ]
    return torch.tensor(found)


def _reading(subject: Subject) -> Callable[[str], list[int]]:
    """The tokens of a text, as the model reads it or, of a translator, writes it."""
    writes, tokenizer = subject.task.needs == "target", subject.tokenizer

    def read(text: str) -> list[int]:
        given = {"text_target": text} if writes else {"text": text}
        return list(tokenizer(**given, add_special_tokens=False)["input_ids"])

    return read


def _before(subject: Subject, example: Example, position: int) -> str:
    """The text before the word that is explained."""
    if subject.task.needs != "target":
        return example.text
    encoded = subject.tokenizer(text_target=example.target, return_offsets_mapping=True)
    return (example.target or "")[: encoded["offset_mapping"][position][0]].rstrip()


def _next_token(read: Callable[[str], list[int]], before: str, word: str) -> int:
    """The first token of a word that comes after a text."""
    if not word.strip():
        raise BadConfig("the word to explain is empty; expected a word")
    start = read(before) if before else []
    whole = read(f"{before} {word.strip()}".strip())
    same = next((n for n, (a, b) in enumerate(zip(start, whole, strict=False)) if a != b), min(len(start), len(whole)))
    if same >= len(whole):
        raise BadConfig(f"the tokenizer has no token for {word!r} after the text")
    return whole[same]


def _at_word(subject: Subject, batch: Batch, examples: list[Example], target: Target, at: str) -> Target:
    """The same target at a given word: of a translator the word that the target has there, of a tagger its tag."""
    if subject.task.needs == "tags":
        spelled = subject.encoder.spelled(batch, examples)
        positions = [_tagged(batch, row, words, at) for row, words in enumerate(spelled)]
        classes = subject.predict(batch).cpu()[torch.arange(len(batch)), positions].argmax(-1)
        return Target(classes, torch.tensor(positions), target.measure)
    if subject.task.needs != "target":
        raise BadConfig(f"a word is named for translators and taggers; this model is for {subject.task.name}")
    positions = [_written(subject, str(example.target), at) for example in examples]
    return Target(batch.labels[torch.arange(len(batch)), positions], torch.tensor(positions), target.measure)


def _tagged(batch: Batch, row: int, spelled: list[str], at: str) -> int:
    """The position at which a word's tag is predicted; `spelled` is the word of every token."""
    positions = batch.predicted_positions[row].nonzero().flatten().tolist()
    return int(positions[word_number(tuple(spelled[position] for position in positions), at)])


def _written(subject: Subject, target: str, at: str) -> int:
    """The position of the first token of a word of the target."""
    words = [(found.start(), found[0]) for found in re.finditer(r"\S+", target)]
    start, word = words[word_number(tuple(word for _, word in words), at)]
    encoded = subject.tokenizer(text_target=target, return_offsets_mapping=True)
    for position, (begin, end) in enumerate(encoded["offset_mapping"]):
        if begin <= start < end:
            return position
    raise BadConfig(f"the tokenizer has no token for {word!r} in the target")


def word_number(words: tuple[str, ...], at: str) -> int:
    """The place of a word: named by itself, if it is there once, or by its number from 0."""
    named = [number for number, word in enumerate(words) if word == at]
    if len(named) == 1:
        return named[0]
    if at.isdecimal() and int(at) < len(words):
        return int(at)
    came = (
        f"{at!r} is there {len(named)} times (words {', '.join(map(str, named))})" if named else f"there is no {at!r}"
    )
    raise BadConfig(
        f"{came}; expected a word that is there once, or its number, from 0 to {len(words) - 1}:"
        f" {' '.join(words)[:80]!r}"
    )
