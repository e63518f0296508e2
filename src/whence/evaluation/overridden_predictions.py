"""Predictions under overridden attention, many times at once, running again only what the override can change."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from whence.core.attending import attending
from whence.core.replay.attention import Replay
from whence.subject.batch import Batch
from whence.subject.generation import encoded_once
from whence.subject.subject import Subject, probabilities


@torch.no_grad()
def overridden_predictions(
    subject: Subject, batch: Batch, rules: Mapping[str, Any], times: int
) -> Float[Tensor, "times batch position class"]:
    """The model's probabilities under overridden attention, `times` times.

    With an override at one site, only what comes after it runs again.
    """
    if _in_decoder(subject, rules):
        return overridden_decoding(subject, batch, rules, times, subject.predict)
    if len(rules) > 1:
        with attending(subject.model, override=rules, watch=None):
            return torch.stack([subject.predict(batch) for _ in range(times)])
    ((site, rule),) = rules.items()
    logits = Replay(subject.model, site, batch.inputs)(rule, times=times)
    return probabilities(subject.task.positioned(logits))


def overridden_decoding(
    subject: Subject, batch: Batch, rules: Mapping[str, Any], times: int, read: Callable[[Batch], Tensor]
) -> Float[Tensor, "times batch position class"]:
    """What `read` returns of a translator under overridden attention, `times` times at once.

    Its encoder runs once, unless its attention is overridden too.
    """
    many = batch.repeated(times)
    if _in_decoder(subject, rules):
        many = encoded_once(subject, batch, times)
    with attending(subject.model, override=rules, watch=None, copies=times):
        return read(many).unflatten(0, (times, -1))


def _in_decoder(subject: Subject, rules: Mapping[str, Any]) -> bool:
    sites = subject.sites
    kinds = {sites[site].kind for site in rules}
    return subject.task.name == "seq2seq" and kinds <= {"causal", "cross"}
