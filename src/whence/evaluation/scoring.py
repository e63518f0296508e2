"""How well a model predicts the labels of a context's examples, with its own attention or an override."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Generator

from whence.analysis.scores import Scores
from whence.core.attending import attending
from whence.core.overrides import Override
from whence.evaluation.config import AblationConfig
from whence.evaluation.context import Context
from whence.evaluation.locations import Place
from whence.measures import bleu
from whence.measures.chunk_f1 import COUNTS, sentence_f1
from whence.subject.batch import Batch
from whence.subject.generation import translate
from whence.subject.metrics import agreement, chunks, tells_chunks
from whence.subject.metrics import scores as share_right
from whence.subject.targets import last_positions
from whence.training.train import trained_override

MEDIAN_MARGIN = float(np.log(9))  # of calibrated logits
Count = Callable[[Batch], Float[ndarray, "batch count"]]
MakeOverride = Callable[[Generator], Override]


class Ablation(NamedTuple):
    """What replaces attention, where, whether also on special tokens, and how often it is drawn."""

    make: MakeOverride | None
    place: Place | None
    special_tokens: bool
    draws: int


def scores(
    context: Context,
    config: AblationConfig,
    make: MakeOverride | None = None,
    place: Place | None = None,
    special_tokens: bool | None = None,
    draws: int = 1,
) -> Scores:
    """The score of every example, under an override or none; mean of the draws.

    It is the task's own: accuracy, BLEU of free translations, F1 of chunks, or concordance of a series.
    """
    special_tokens = config.special_tokens if special_tokens is None else special_tokens
    if context.subject.task.predicts_values and make is None:
        return Scores(agreement(context.subject, context.examples, context.batch_size))
    ablation = Ablation(make, place, special_tokens, draws)
    if context.subject.task.name == "seq2seq" and config.decoding == "free":
        return _bleu(context, ablation, config.beams)
    if tells_chunks(context.subject):
        return _chunk_f1(context, ablation)
    return Scores(accuracy(context, make, place, special_tokens, draws))


def scores_as_trained(context: Context, config: AblationConfig) -> Scores:
    """The score of every example, with the attention that the model was trained with."""
    rules = None if context.training is None else trained_override(context.training)
    with attending(context.subject.model, override=rules, watch=None):
        return scores(context, config)


def paired_scores(context: Context, base: Scores, other: Scores) -> dict[str, Sequence[Any]]:
    """The columns of a table that compares another model's scores with the base model's, one value per example."""
    return {
        "example": context.numbers,
        "label": context.labels,
        "base": base.values.tolist(),
        "score": other.values.tolist(),
        "base_counts": base.counts_as_text(),
        "counts": other.counts_as_text(),
    }


def accuracy(
    context: Context,
    make: MakeOverride | None = None,
    place: Place | None = None,
    special_tokens: bool = True,
    draws: int = 1,
) -> Float[ndarray, " example"]:
    """For every example the share of its labels that are predicted, under an override or none; mean of the draws."""
    found = np.full(len(context.examples), np.nan)
    for batch in context.batches():
        override = None if make is None else make(_stream(context, place, batch))
        rules = place.rules(override, context.subject, batch, special_tokens) if place and override else None
        with attending(context.subject.model, override=rules, watch=None):
            each = [
                share_right(context.subject.predict(batch), batch.predicted_positions, batch.labels)
                for _ in range(draws)
            ]
        found[batch.examples.numpy()] = torch.stack(each).float().mean(0).numpy()
    return found


def confidence(context: Context) -> Float[ndarray, " example"]:
    """The model's largest probability for each example, mean over its predictions."""
    found = np.full(len(context.examples), np.nan)
    for batch in context.batches():
        largest = context.subject.predict(batch).amax(-1).cpu() * batch.predicted_positions  # [batch position]
        found[batch.examples.numpy()] = (largest.sum(-1) / batch.predicted_positions.sum(-1).clamp_min(1)).numpy()
    return found


def _stream(context: Context, place: Place | None, batch: Batch) -> Generator:
    """Random numbers of one batch, which do not depend on the batches before it."""
    return context.generator(f"{context.name} {place} {int(batch.examples[0])}")


@torch.no_grad()
def calibration_factor(context: Context) -> float:
    """What logits are multiplied by so that their median margin over the examples is ln 9: between the two most likely
    classes a median probability of 0.9.

    The margin is that of the largest logit over the second, at the prediction that is explained. A model whose logits
    are all multiplied by one number decides and attends alike, and its calibrated probabilities are the same. Where the
    median is zero, 1.
    """
    return context.once("calibration factor", lambda: _calibration_factor(context))


def _calibration_factor(context: Context) -> float:
    margins = np.empty(len(context.examples))
    for batch in context.all_batches():
        logits, at = context.subject.logits(batch).double().cpu(), last_positions(context.subject, batch)
        first, second = logits[torch.arange(len(batch)), at].topk(2).values.T
        margins[batch.examples.numpy()] = (first - second).numpy()
    median = float(np.median(margins))
    return MEDIAN_MARGIN / median if median > 0 else 1.0


def _bleu(context: Context, ablation: Ablation, beams: int) -> Scores:
    """The counts of BLEU of every example's translation, summed over the draws."""

    def count(batch: Batch) -> Float[ndarray, "batch count"]:
        wanted = [str(context.examples[number].target) for number in batch.examples.tolist()]
        counts_as_text = translate(context.subject, batch, beams=beams)
        return bleu.bleu_counts(counts_as_text, wanted, lowercase=context.subject.lowercase)

    counts = _counts(context, ablation, bleu.COUNTS, count, beams)
    return Scores(bleu.sentence_bleu(counts / ablation.draws) / 100, counts)


def _chunk_f1(context: Context, ablation: Ablation) -> Scores:
    """The counts of F1 of every example's chunks, summed over the draws."""
    counts = _counts(context, ablation, COUNTS, lambda batch: chunks(context.subject, batch, context.examples))
    return Scores(sentence_f1(counts) / 100, counts)


def _counts(
    context: Context, ablation: Ablation, width: int, count: Count, beams: int = 1
) -> Float[ndarray, "example count"]:
    """The counts of every example under an override, summed over the draws."""
    make, place, special_tokens, draws = ablation
    counts = np.zeros((len(context.examples), width))
    for batch in context.batches():
        override = None if make is None else make(_stream(context, place, batch))
        rules = place.rules(override, context.subject, batch, special_tokens, beams) if place and override else None
        with attending(context.subject.model, override=rules, watch=None):
            for _ in range(draws):
                counts[batch.examples.numpy()] += count(batch)
    return counts
