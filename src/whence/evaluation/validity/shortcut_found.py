"""Which explainers put a planted token first, in texts whose prediction it provably changed."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch

from whence.attribution.registry import explainer
from whence.core.errors import BadConfig
from whence.evaluation.context import Context
from whence.evaluation.rationale_match import RANDOM
from whence.evaluation.validity.linear_probe import planted_probe
from whence.evaluation.validity.planted_copy import USED, Shortcut, changed_by_token, classes_of, fine_tuned
from whence.evaluation.validity.planted_token import Planted, choose_token, plant, texts_to_learn_from
from whence.measures.ranking import r_precision
from whence.subject.targets import Target

NEED_NO_ATTENTION = ("gradient_x_input", "leave_one_out", "gradient_squared", "integrated_gradients", RANDOM)


class Found(NamedTuple):
    """Whether an explainer gives the token the highest score of a text (ties: the share), and how likely by chance."""

    example: int
    method: str
    first: float
    chance: float


class Trial(NamedTuple):
    """A model with a shortcut: a fine-tuned `copy` or a linear `probe`; why it is not a copy; and what was found."""

    model: str
    why: str
    shortcut: Shortcut
    found: list[Found]


def trials(context: Context, methods: Sequence[str], seconds: float, most: int) -> Iterator[Trial]:
    """A copy that is fine-tuned within the time; and if there is none that provably uses the token, a probe."""
    learned, held = texts_to_learn_from(context)
    token = choose_token(context.subject, [*learned, *context.examples], context.seed)
    why = why_no_copy(context, seconds)
    if not why:
        label = rarest_class(context)
        pool, texts = (_planted(context, some, token, context.subject.labels[label]) for some in (learned, None))
        copy = fine_tuned(context, label, pool, seconds)
        shortcut = changed_by_token(
            copy, label, [text for text in texts if text.number not in held], context.batch_size
        )
        if shortcut.used >= USED:
            yield Trial("copy", "", shortcut, list(found_first(context, shortcut, methods, most)))
            return
        why = f"after fine-tuning, the token changed {100 * shortcut.used:.0f} % of the predictions and not 90 %"
        yield Trial("copy", why, shortcut, [])
    pool, texts = (_planted(context, some, token, None) for some in (learned, None))
    probe = planted_probe(context.subject, pool, token)
    shortcut = changed_by_token(probe, 1, [text for text in texts if text.number not in held], context.batch_size)
    able = [method for method in methods if method in NEED_NO_ATTENTION]
    found = list(found_first(context, shortcut, able, most)) if shortcut.used >= USED else []
    yield Trial("probe", why, shortcut, found)


def why_no_copy(context: Context, seconds: float) -> str:
    """Why no copy can be fine-tuned, else empty."""
    if context.subject.task.name != "sequence-classification":
        return f"a shortcut is planted in classes of texts, and the model is for {context.subject.task.name}"
    return "" if seconds > 0 else "no time was given for fine-tuning"


def rarest_class(context: Context) -> int:
    """The class that the model predicts least often: the token shall stand for it, so that it changes most."""
    classes = classes_of(context.subject, context.examples, context.batch_size)
    return int(np.bincount(classes, minlength=len(context.subject.labels)).argmin())


def _planted(context: Context, examples: Any, token: str, label: str | None) -> list[Planted]:
    """The examples without and with the token; without examples, those that are evaluated."""
    found = plant(context.examples if examples is None else examples, token, label or "", context.seed)
    if label is None:
        found = [text._replace(marked=replace(text.marked, label=None)) for text in found]
    if not found:
        raise BadConfig(f"every text has the word {token!r} already, so that none is left to plant it in; add texts")
    return found


def found_first(context: Context, shortcut: Shortcut, methods: Sequence[str], most: int) -> Iterator[Found]:
    """Of at most so many texts whose prediction the token changed: whether each explainer puts it first.

    Words are ranked by the size of their scores, those of a second text among them.
    """
    changed = [text for text, one in zip(shortcut.texts, shortcut.changed, strict=True) if one][:most]
    options: dict[str, Any] = {RANDOM: {"seed": context.seed}}
    for batch in shortcut.subject.batches([text.marked for text in changed], context.batch_size):
        zeros = torch.zeros(len(batch), dtype=torch.long)
        target = Target(zeros + shortcut.label, zeros, "margin")
        for method in methods:
            scores = explainer(method)(shortcut.subject, batch, target, **options.get(method, {}))
            scores = scores.of_first_subwords() if method == RANDOM else scores
            for row, number in enumerate(batch.examples.tolist()):
                words = np.abs(np.concatenate([scores.words(row), scores.words(row, segment=1)]))
                marked = np.arange(len(words)) == changed[number].place
                if marked.any():
                    example = int(context.numbers[changed[number].number])
                    yield Found(example, method, r_precision(words, marked), 1 / len(words))
