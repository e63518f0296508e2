"""A bench's model as it was before it learned anything."""

from copy import deepcopy
from dataclasses import replace
from typing import Any

import torch

from whence.core.seeds import stream
from whence.evaluation.held import Held
from whence.subject.subject import Subject
from whence.training.config import REFERENCE
from whence.training.init import untrained
from whence.training.train import drawn


def before_training(bench: Held) -> Subject:
    """A model of the same kind that has learned nothing.

    A reference model that Whence trained is as before its first epoch, with the word vectors that it began with.
    Else all weights are drawn anew, by the bench's seed, those of the word vectors too.
    """
    training, corpus = bench.training, bench.corpus
    if training is None or corpus is None or training.model not in REFERENCE:
        return _drawn_anew(bench.subject, bench.seed)
    learned = tuple(drawn(corpus["train"], training.limit))
    subject = untrained(training, replace(corpus, splits={**corpus.splits, "train": learned}))
    subject.model.to(bench.subject.device, bench.subject.model.dtype)
    return subject


def _drawn_anew(subject: Subject, seed: int) -> Subject:
    """A model of the same kind and size with other weights."""
    with torch.random.fork_rng():
        torch.manual_seed(stream(seed, "untrained").initial_seed())
        model: Any = type(subject.model)(deepcopy(subject.model.config))
    model.to(subject.device, subject.model.dtype)
    return Subject(model, subject.tokenizer, subject.task.name, f"{subject.name}, untrained")
