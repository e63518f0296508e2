"""Texts, contexts and divergences for the instance adversary."""

import numpy as np
import torch
from scipy.special import rel_entr

from support.tokenizing import reader
from whence.core.attending import attending
from whence.core.overrides import imposed
from whence.data.examples import Example
from whence.evaluation.context import Context
from whence.evaluation.exclusivity.editable_attention import EditableAttention
from whence.experiments import instance_adversary
from whence.subject.subject import Subject
from whence.subject.targets import predicted

TEXTS = [
    "good movie",
    "the film was not good .",
    "a bad bad story . the movie was good !",
    "bad",
    "was the story good ?",
]


def config(**options) -> instance_adversary.Config:
    return instance_adversary.Config(model="m", data="d", **options)


def context(name: str, texts=TEXTS, **options) -> Context:
    examples = [Example(text, ("LABEL_0", "LABEL_1")[n % 2]) for n, text in enumerate(texts)]
    return Context(reader(name), examples, range(len(texts)), quiet=True, name="instance_adversary", **options)


def jsd(p, q) -> float:
    """In nats, with scipy's relative entropy."""
    p, q = np.asarray(p, float), np.asarray(q, float)
    return float(rel_entr(p, (p + q) / 2).sum() + rel_entr(q, (p + q) / 2).sum()) / 2


def alone(subject: Subject, example: Example, there: EditableAttention, rows: torch.Tensor, place: int):
    """The JSD of rows that were found in a batch, within the free keys, by the shares of heads and rows; and the change
    when they are imposed on the text by itself.
    """
    batch, real = subject.encode([example]), there.batch.mask[place].nonzero().flatten()
    with attending(subject.model, watch=there.site) as tape:
        base = subject.logits(batch)
    own = tape.only(there.site).weights.detach()
    sinks = there.replay.call.sinks
    keys = [*real.tolist(), *range(rows.shape[-1] - sinks, rows.shape[-1])]
    if there.replay.call.site.keys == "parts":
        keys, real = list(range(own.shape[-1])), torch.zeros(1)
    weights, apart, free = own.clone(), 0.0, there.free[place][..., keys]
    for row, query in enumerate(there.places[place].tolist()):
        if there.counted[place, 0, row]:
            query -= int(real[0])  # the text by itself has no padding before it
            weights[0, :, query] = rows[place, :, row, keys]
            for head in range(own.shape[1]):
                moved, before = (some[0, head, query].double()[free[head, row]] for some in (weights, own))
                apart += float(there.share[place, head, row]) * jsd(moved / moved.sum(), before / before.sum())
    with attending(subject.model, override={there.site: imposed(weights)}, watch=None):
        altered = subject.logits(batch)
    position = int(predicted(subject, batch).positions[0])
    p, q = (found[0, position].detach().double().softmax(-1).numpy() for found in (base, altered))
    return apart, abs(p - q).sum() / 2
