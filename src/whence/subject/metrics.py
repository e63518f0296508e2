"""Metrics of a subject's predictions: accuracy, F1 of chunks, or concordance of a series with the true values."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from whence.core.attending import Rule, attending
from whence.core.errors import BadData
from whence.data.examples import Example
from whence.measures.chunk_f1 import COUNTS, OUTSIDE, chunk_counts, chunk_f1, is_iob
from whence.measures.concordance import concordances
from whence.subject.batch import Batch
from whence.subject.subject import Subject

Rules = Rule | Mapping[str, Rule]  # for all sites, or by site


def score(subject: Subject, examples: Sequence[Example], batch_size: int = 32, override: Rules | None = None) -> float:
    """The metric that selects a model, at most 1: accuracy, the F1 of chunks, or the mean concordance of narratives."""
    if subject.task.predicts_values:
        return float(agreement(subject, examples, batch_size, override).mean())
    if tells_chunks(subject):
        return float(chunk_f1(all_chunks(subject, examples, batch_size, override).sum(0))) / 100
    return accuracy(subject, examples, batch_size, override)


def accuracy(
    subject: Subject, examples: Sequence[Example], batch_size: int = 32, override: Rules | None = None
) -> float:
    """The mean over examples of the share of correct predictions."""
    right = 0.0
    with attending(subject.model, override=override, watch=None):
        for batch in subject.batches(examples, batch_size):
            right += float(scores(subject.predict(batch), batch.predicted_positions, batch.labels).sum())
    return right / len(examples)


def scores(probs: Any, positions: Any, labels: Any) -> Any:
    """For each example the share of its predicted positions that are predicted correctly: [batch]."""
    right = (probs.argmax(-1).cpu() == labels) & positions  # [batch position]
    return right.sum(-1) / positions.sum(-1).clamp_min(1)


def tells_chunks(subject: Subject) -> bool:
    """Whether a subject's tags are those of chunks (B-x, I-x, O), which are scored as wholes."""
    return subject.task.needs == "tags" and is_iob(subject.labels)


def all_chunks(
    subject: Subject, examples: Sequence[Example], batch_size: int = 32, override: Rules | None = None
) -> Float[ndarray, "example count"]:
    """For each example the counts of correct, predicted and true chunks."""
    counts = np.zeros((len(examples), COUNTS))
    with attending(subject.model, override=override, watch=None):
        for batch in subject.batches(examples, batch_size):
            counts[batch.examples.numpy()] = chunks(subject, batch, examples)
    return counts


def chunks(subject: Subject, batch: Batch, examples: Sequence[Example]) -> Float[ndarray, "batch count"]:
    """The same for the examples of a batch, which index `examples`; a truncated word is in no chunk."""
    here = [examples[number] for number in batch.examples.tolist()]
    if any(example.tags is None for example in here):
        raise BadData("chunks are scored against the true tags; some examples have none")
    labels, number = subject.labels, subject.encoder.label_id
    true = [[labels[number(tag)] for tag in example.tags or ()] for example in here]
    tags = [[OUTSIDE] * len(row) for row in true]
    predicted = subject.predict(batch).argmax(-1).cpu()[batch.predicted_positions]
    rows = batch.predicted_positions.nonzero()[:, 0]  # [prediction]
    for row, word, label in zip(
        rows.tolist(), batch.word[batch.predicted_positions].tolist(), predicted.tolist(), strict=True
    ):
        tags[row][word] = labels[label]
    return chunk_counts(tags, true)


def agreement(
    subject: Subject, examples: Sequence[Example], batch_size: int = 32, override: Rules | None = None
) -> Float[ndarray, " example"]:
    """The concordance of each narrative: of the values predicted for its windows with the true ones."""
    if any(example.values is None for example in examples):
        raise BadData("concordance needs the true value of every window; some narratives have none")
    true = [np.array(example.values) for example in examples]
    return concordances(true, values(subject, examples, batch_size, override))


def values(
    subject: Subject, examples: Sequence[Example], batch_size: int = 32, override: Rules | None = None
) -> list[ndarray]:
    """The value that a model of series predicts for each window of each narrative: [window] for each."""
    found: dict[int, ndarray] = {}
    with attending(subject.model, override=override, watch=None):
        for batch in subject.batches(examples, batch_size):
            predicted = subject.predict(batch)[..., 0].cpu().numpy()  # [batch window]
            rows = zip(batch.examples.tolist(), predicted, batch.predicted_positions.numpy(), strict=True)
            found |= {number: row[real].astype(float) for number, row, real in rows}
    return [found[number] for number in range(len(examples))]
