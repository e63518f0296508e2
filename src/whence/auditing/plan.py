"""The plan of an audit: which experiments, on how many examples, fit into the time budget.

The plan is made once and saved, so that an interrupted audit resumes with the same one, even if the machine's
speed has changed.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

from whence.core.attending import attending
from whence.data.examples import Example
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.training.train import processors

FEWEST = 50  # examples: below that, an interval says nothing
SEEDS = 5  # for whatever is trained
TRIED = 16  # examples that are timed
SHUFFLES, FEW_SHUFFLES = 100, 20
ERASING, REST = 0.05, 0.6  # the share of the time for single heads; what lies after a head, as part of a pass


@dataclass(frozen=True)
class Step:
    """One experiment: its name, its own options, about how long it will take, and why it is run."""

    experiment: str
    options: dict[str, Any]
    seconds: float
    why: str


@dataclass(frozen=True)
class Plan:
    """The steps for one subject on one corpus, and what had to be left out."""

    steps: tuple[Step, ...]
    left_out: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """About how long all of it will take."""
        return sum(step.seconds for step in self.steps)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)

    @staticmethod
    def from_dict(saved: dict[str, Any]) -> "Plan":
        """The plan that was saved."""
        return Plan(tuple(Step(**step) for step in saved["steps"]), tuple(saved["left_out"]))


@dataclass(frozen=True)
class Costs:
    """Measured times: seconds for one example in one pass, and for training a model, if it can be retrained."""

    each: float
    training: float | None
    places: int  # where attention is ablated, one after another
    one_site: bool  # then shuffling runs only what comes after it
    heads: int = 1  # of all places together

    @property
    def looking(self) -> float:
        """Seconds for one example of the ablation: unchanged, uniform, five times random, five times shuffled."""
        return self.each * (1 + 11 * self.places)

    @property
    def shuffling(self) -> float:
        """Seconds for one example of the permutation."""
        return self.each * self.places * SHUFFLES * (0.05 if self.one_site else 1.0)

    @property
    def erasing(self) -> float:
        """Seconds for one example without each head in turn."""
        return self.each * self.heads * REST

    def retraining(self, seeds: int, variants: int) -> float:
        """Seconds to train so many seeds, unchanged and in each variant, except the one there is."""
        return (seeds * (1 + variants) - 1) * (self.training or 0.0) / processors() if seeds else 0.0


def make_plan(costs: Costs, n: int, seconds: float, *, granularity: str, labelled: bool, least: int = 0) -> Plan:
    """The ablation first, since it decides question 1, retrained as far as time allows (from `least` seeds in any
    case); then the permutation, and single heads, if that takes little.
    """
    steps: list[Step] = []
    left_out: list[str] = []
    if labelled:
        seeds, variants = seeds_and_variants(costs, n, 0.9 * seconds)
        if seeds < least:
            seeds, variants = least, ("uniform",)
        training, looks = costs.retraining(seeds, len(variants)), max(seeds, 1)
        share = 0.9 if seeds else 0.4
        few = fitting(share * seconds - training, costs.looking * looks, n)
        options = {
            "limit": few if few < n else None,
            "retrain": seeds,
            "retrained": variants,
            "granularity": granularity,
        }
        took = training + few * costs.looking * looks
        steps.append(Step("ablation", options, took, "how much is lost without attention"))
        if costs.training is not None and seeds < SEEDS:
            left_out.append(f"the budget allows {seeds} of {SEEDS} seeds for retraining, see --budget")
    else:
        left_out.append("no ablation: it needs labels, and not all examples have one")
    single = erase_heads(costs, n, seconds) if labelled else []
    rest = max(seconds - sum(step.seconds for step in (*steps, *single)), 0.1 * seconds)
    few = fitting(rest, costs.shuffling, n)
    shuffles = SHUFFLES if few * costs.shuffling <= 1.5 * rest else FEW_SHUFFLES
    options = {"limit": few if few < n else None, "permutations": shuffles, "granularity": granularity}
    took = few * costs.shuffling * shuffles / SHUFFLES
    steps.append(Step("permutation", options, took, "how far predictions move when it is shuffled"))
    if labelled and costs.heads > 1 and not single:
        left_out.append(
            f"{costs.heads} heads are not erased one after another: {min(n, FEWEST)} texts would take about"
            f" {min(n, FEWEST) * costs.erasing:.0f} seconds, more than their share of the time, see --budget"
        )
    if shuffles < SHUFFLES:
        left_out.append(f"each example is shuffled {shuffles} times instead of {SHUFFLES}, to fit into the time")
    return Plan((*steps, *single), tuple(left_out))


def erase_heads(costs: Costs, n: int, seconds: float) -> list[Step]:
    """Heads erased one after another, where there are several and their share of the time has room for it."""
    few = fitting(ERASING * seconds, costs.erasing, n)
    if costs.heads == 1 or few * costs.erasing > ERASING * seconds:
        return []
    options = {"limit": few if few < n else None, "what": "heads"}
    why = "without which single head the labels become less likely"
    return [Step("representation_erasure", options, few * costs.erasing, why)]


def seeds_and_variants(costs: Costs, n: int, seconds: float) -> tuple[int, tuple[str, ...]]:
    """How many seeds to train and in which variants: uniform attention decides; random too if all seeds fit."""
    if costs.training is None:
        return 0, ()
    for variants in (("uniform", "random"), ("uniform",)):
        for seeds in range(SEEDS, 1, -1):
            needed = costs.retraining(seeds, len(variants)) + seeds * min(n, 4 * FEWEST) * costs.looking
            if needed <= seconds and (seeds == SEEDS or variants == ("uniform",)):
                return seeds, variants
    return 0, ()


def measure_costs(subject: Subject, examples: Sequence[Example], granularity: str, training: float | None) -> Costs:
    """The costs of a subject, tried on a few examples."""
    few = examples[:: max(1, len(examples) // TRIED)][:TRIED]
    batch = subject.encode(few)
    times = []
    for _ in range(5):
        started = time.perf_counter()
        subject.predict(batch)
        times.append(time.perf_counter() - started)
    each = min(times) / len(few)  # the others waited for something else
    sites = len(subject.sites)
    places = {"all": 1, "layer": sites, "head": 12 * sites}[granularity]
    return Costs(each, training, places, sites == 1 or granularity != "all", heads_of(subject, subject.encode(few[:1])))


def heads_of(subject: Subject, batch: Batch) -> int:
    """How many heads a model has, of all its sites together."""
    with torch.no_grad(), attending(subject.model) as tape:
        subject.model(**batch.inputs)
    return sum(call.n_heads for call in tape.calls() if call.step == 0)


def fitting(seconds: float, each: float, n: int) -> int:
    """How many examples fit into the time: not fewer than a minimum, not more than there are."""
    return min(n, max(FEWEST, int(seconds / max(each, 1e-9))))
