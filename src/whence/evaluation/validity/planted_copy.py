"""A copy of a model that is fine-tuned to use a planted token. Bastings et al. 2022.

Half of what the copy learns from are the texts as they are, with the model's own predictions as labels; the other half
are the same texts with the token, all with one label. So no true labels are needed, and the copy goes on predicting as
the model does, but for the token.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from whence.data.examples import Example
from whence.evaluation.context import Context
from whence.evaluation.validity.model_copy import copied
from whence.evaluation.validity.planted_token import Planted
from whence.subject.subject import Subject
from whence.training.fit import loss_of

BATCH = 16  # texts without the token, and as many with it
STEPS, BETWEEN = 400, 10  # at most; steps between two tests whether the token is used
CHECKED = 48  # texts that this is tested on
RATE, SMALL_RATE, SMALL = 5e-5, 2e-3, 5_000_000  # the learning rate; that of models with fewer parameters
STEEPER, TIMES = 50, 8  # it doubles every so many steps, up to so many times
USED = 0.9  # share of the predictions that the token must change: the proof
ENOUGH = 0.97  # with so many, training ends


@dataclass(frozen=True, eq=False)
class Shortcut:
    """A model, and for each planted text whether the token changed its prediction to the class that it stands for."""

    subject: Subject
    label: int
    texts: Sequence[Planted]
    changed: Sequence[bool]

    @property
    def used(self) -> float:
        """The share of the predictions that the token changed; 0 if there was none to change."""
        return sum(self.changed) / len(self.changed) if self.changed else 0.0


def classes_of(subject: Subject, examples: Sequence[Example], batch_size: int = 32) -> list[int]:
    """The class that a classifier predicts for each example."""
    found = [0] * len(examples)
    for batch in subject.batches(examples, batch_size):
        for number, one in zip(batch.examples.tolist(), subject.predict(batch)[:, 0].argmax(-1).tolist(), strict=True):
            found[number] = one
    return found


def changed_by_token(subject: Subject, label: int, texts: Sequence[Planted], batch_size: int = 32) -> Shortcut:
    """Whether the token changes predictions: of the texts that are not predicted as its class without it."""
    without = classes_of(subject, [text.plain for text in texts], batch_size)
    others = [text for text, one in zip(texts, without, strict=True) if one != label]
    with_it = classes_of(subject, [text.marked for text in others], batch_size)
    return Shortcut(subject, label, others, [one == label for one in with_it])


def fine_tuned(context: Context, label: int, learned: Sequence[Planted], seconds: float) -> Subject:
    """The copy: trained until it uses the token, or until the time is over."""
    ends = time.perf_counter() + seconds
    copy = copied(context.subject, context.first_batch())
    checked, pool = learned[:CHECKED], learned[CHECKED:] or learned
    labels, own = context.subject.labels, classes_of(context.subject, [text.plain for text in pool])
    texts = [replace(text.plain, label=labels[number]) for text, number in zip(pool, own, strict=True)]
    rate = SMALL_RATE if copy.model.num_parameters() < SMALL else RATE
    optimizer = torch.optim.AdamW(copy.model.parameters(), lr=rate, weight_decay=0.01)
    generator = context.generator("planted copy")
    with torch.random.fork_rng(), torch.backends.cudnn.flags(enabled=False):
        for step in range(STEPS):
            order = torch.randperm(len(pool), generator=generator)[:BATCH].tolist()
            both = [texts[number] for number in order] + [pool[number].marked for number in order]
            loss = loss_of(copy, copy.encode(both))
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(copy.model.parameters(), 1.0)
            for group in optimizer.param_groups:
                group["lr"] = rate * min(2 ** (step // STEEPER), TIMES)
            optimizer.step()
            over = time.perf_counter() > ends
            if over or (step % BETWEEN == BETWEEN - 1 and changed_by_token(copy, label, checked).used >= ENOUGH):
                break
    return copy
