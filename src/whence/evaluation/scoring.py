"""Marks that are counts: of the translations of a bench's examples, or of their chunks, under an alteration or none."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from torch import Generator

from whence.analysis.scores import Marks
from whence.core.attending import attending
from whence.core.overrides import Override
from whence.evaluation.locations import Place
from whence.measures import bleu
from whence.measures.chunk_f1 import COUNTS, sentence_f1
from whence.subject.batch import Batch
from whence.subject.generation import translate
from whence.subject.metrics import chunks

if TYPE_CHECKING:
    from whence.evaluation.bench import Bench

Count = Callable[[Batch], Float[ndarray, "batch count"]]


class Alteration(NamedTuple):
    """What is put in the place of attention, where, whether also on special tokens, and how often it is drawn."""

    make: Callable[[Generator], Override] | None
    place: Place | None
    specials: bool
    draws: int


def translated(bench: "Bench", alteration: Alteration, beams: int) -> Marks:
    """The counts of BLEU of every example's translation, summed over the draws."""

    def count(batch: Batch) -> Float[ndarray, "batch count"]:
        wanted = [str(bench.examples[number].target) for number in batch.examples.tolist()]
        written = translate(bench.subject, batch, beams=beams)
        return bleu.bleu_counts(written, wanted, lowercase=bench.subject.lowercase)

    counts = counted(bench, alteration, bleu.COUNTS, count, beams)
    return Marks(bleu.sentence_bleu(counts / alteration.draws) / 100, counts)


def chunked(bench: "Bench", alteration: Alteration) -> Marks:
    """The counts of F1 of every example's chunks, summed over the draws."""
    counts = counted(bench, alteration, COUNTS, lambda batch: chunks(bench.subject, batch, bench.examples))
    return Marks(sentence_f1(counts) / 100, counts)


def counted(
    bench: "Bench", alteration: Alteration, width: int, count: Count, beams: int = 1
) -> Float[ndarray, "example count"]:
    """What is counted of every example while the model attends as altered, summed over the draws."""
    make, place, specials, draws = alteration
    counts = np.zeros((len(bench.examples), width))
    override = None if make is None else make(bench.stream(f"{bench.name} {place}"))
    for batch in bench.batches():
        rules = place.rules(override, bench.subject, batch, specials, beams) if place and override else None
        with attending(bench.subject.model, override=rules, watch=None):
            for _ in range(draws):
                counts[batch.examples.numpy()] += count(batch)
    return counts
