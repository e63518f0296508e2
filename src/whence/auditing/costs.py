"""What experiments cost on this model and machine: measured passes, and how many of them an experiment needs."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from whence.core.attending import attending
from whence.data.examples import Example
from whence.engine.engines import processors
from whence.subject.batch import Batch
from whence.subject.subject import Subject

TRIED, TOGETHER = 24, 8  # examples that are timed, in batches of so many
SHUFFLES = 100
PACKED = 0.75  # of a pass, where hundreds of texts run at once, those of like length together
REST = 0.6  # what lies after a head, as part of a pass
REPLAYED = 0.05  # of a pass, where only what comes after the one site is run again


@dataclass(frozen=True)
class Costs:
    """Measured times: seconds for one example in one pass, and for training a model, if it can be retrained."""

    each: float
    training: float | None
    places: int  # where attention is ablated, one after another
    one_site: bool  # then shuffling runs only what comes after it
    heads: int = 1  # of all places together
    words: float = 20.0  # of a text, on average

    @property
    def ablating(self) -> float:
        """Seconds for one example of the ablation: unchanged, uniform, five times random, five times shuffled."""
        return self.each * (1 + 11 * self.places)

    @property
    def shuffling(self) -> float:
        """Seconds for one example of the permutation, with all its shuffles."""
        return self.each * self.places * SHUFFLES * (REPLAYED if self.one_site else 1.0)

    @property
    def erasing_heads(self) -> float:
        """Seconds for one example without each head in turn."""
        return self.each * self.heads * REST

    def removing(self, methods: int, kinds: int, steps: int) -> float:
        """Seconds for one example of `faithfulness`: single words, orders and the search for the best and worst one by
        each kind of removal, and the scores of the explainers.
        """
        units = min(self.words, 62)
        searched = 2.0**units if units <= 8 else units + 2 * steps * 8
        each_kind = searched + 2 * min(steps, units) * (methods + 1)
        explaining = 3 * 16 + 2 * units if methods > 4 else 3  # integrated gradients and value zeroing, or a gradient
        return self.each * (PACKED * kinds * each_kind + explaining + 4 * methods)

    def retraining(self, seeds: int, variants: int) -> float:
        """Seconds to train so many seeds, unchanged and in each variant, except the one there is."""
        return (seeds * (1 + variants) - 1) * (self.training or 0.0) / processors() if seeds else 0.0


def measure_costs(subject: Subject, examples: Sequence[Example], granularity: str, training: float | None) -> Costs:
    """The costs of a subject, tried on a few examples."""
    few = examples[:: max(1, len(examples) // TRIED)][:TRIED]
    batches = list(subject.batches(few, TOGETHER))  # of similar length, as all experiments have them
    times = []
    for _ in range(5):
        started = time.perf_counter()
        for batch in batches:
            subject.predict(batch)
        times.append(time.perf_counter() - started)
    each = min(times) / len(few)  # the others waited for something else
    sites = len(subject.sites)
    places = {"all": 1, "layer": sites, "head": 12 * sites}[granularity]
    words = sum(len(f"{example.text} {example.pair or ''}".split()) for example in few) / len(few)
    heads = heads_of(subject, subject.encode(few[:1]))
    return Costs(each, training, places, sites == 1 or granularity != "all", heads, words)


def heads_of(subject: Subject, batch: Batch) -> int:
    """How many heads a model has, of all its sites together."""
    with torch.no_grad(), attending(subject.model) as tape:
        subject.model(**batch.inputs)
    return sum(call.n_heads for call in tape.calls() if call.step == 0)
