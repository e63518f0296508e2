"""The plan of an audit: which experiments on how many examples fit into the time there is.

The plan is made once and kept on disk, so that an audit that was cut off goes on with the same one, whatever the
machine's speed is by then.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from whence.data.examples import Example
from whence.models.subject import Subject
from whence.models.workshop import processors

FEWEST = 50  # examples: below that, an interval says nothing
SEEDS = 5  # for whatever is trained
TRIED = 16  # examples that are timed
SHUFFLES, FEW_SHUFFLES = 100, 20


@dataclass(frozen=True)
class Step:
    """One experiment: its name, its options beside the common ones, and about how long it will take."""

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
    """What was measured: seconds for one example in one pass, and for training a model, if it can be trained again."""

    each: float
    training: float | None
    places: int  # where attention is altered, one after another
    one_site: bool  # then shuffling re-runs only what lies after it

    @property
    def looking(self) -> float:
        """Seconds for one example of the ablation: bare, equal, five times random, five times shuffled."""
        return self.each * (1 + 11 * self.places)

    @property
    def shuffling(self) -> float:
        """Seconds for one example of the permutation."""
        return self.each * self.places * SHUFFLES * (0.05 if self.one_site else 1.0)

    def retraining(self, seeds: int, variants: int) -> float:
        """Seconds to train so many seeds, bare and in each variant, less the one there is."""
        return (seeds * (1 + variants) - 1) * (self.training or 0.0) / processors() if seeds else 0.0


def make_plan(costs: Costs, n: int, seconds: float, *, grain: str, labelled: bool, least: int = 0) -> Plan:
    """The ablation first, since it decides question 1, retrained as far as time allows (from `least` seeds in any
    case); then the permutation.
    """
    steps: list[Step] = []
    left_out: list[str] = []
    if labelled:
        seeds, variants = retrainable(costs, n, 0.9 * seconds)
        if seeds < least:
            seeds, variants = least, ("uniform",)
        training, looks = costs.retraining(seeds, len(variants)), max(seeds, 1)
        share = 0.9 if seeds else 0.4
        few = fitting(share * seconds - training, costs.looking * looks, n)
        options = {"limit": few if few < n else None, "retrain": seeds, "retrained": variants, "grain": grain}
        took = training + few * costs.looking * looks
        steps.append(Step("ablation", options, took, "what is lost when attention is taken away"))
        if costs.training is not None and seeds < SEEDS:
            left_out.append(
                f"models are trained again from {seeds or 'no'} seeds; {SEEDS} do not fit into the time, see --budget"
            )
    else:
        left_out.append("no ablation: it counts right answers, and not all examples have one")
    rest = max(seconds - sum(step.seconds for step in steps), 0.1 * seconds)
    few = fitting(rest, costs.shuffling, n)
    shuffles = SHUFFLES if few * costs.shuffling <= 1.5 * rest else FEW_SHUFFLES
    options = {"limit": few if few < n else None, "permutations": shuffles, "grain": grain}
    took = few * costs.shuffling * shuffles / SHUFFLES
    steps.append(Step("permutation", options, took, "how far predictions move when it is shuffled"))
    if shuffles < SHUFFLES:
        left_out.append(f"each example is shuffled {shuffles} times instead of {SHUFFLES}, to fit into the time")
    return Plan(tuple(steps), tuple(left_out))


def retrainable(costs: Costs, n: int, seconds: float) -> tuple[int, tuple[str, ...]]:
    """How many seeds to train and in which variants: equal weights decide; random ones if all seeds fit with them."""
    if costs.training is None:
        return 0, ()
    for variants in (("uniform", "random"), ("uniform",)):
        for seeds in range(SEEDS, 1, -1):
            needed = costs.retraining(seeds, len(variants)) + seeds * min(n, 4 * FEWEST) * costs.looking
            if needed <= seconds and (seeds == SEEDS or variants == ("uniform",)):
                return seeds, variants
    return 0, ()


def measured(subject: Subject, examples: Sequence[Example], grain: str, training: float | None) -> Costs:
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
    return Costs(each, training, {"all": 1, "layer": sites, "head": 12 * sites}[grain], sites == 1 or grain != "all")


def fitting(seconds: float, each: float, n: int) -> int:
    """How many examples fit into the time: not fewer than a minimum, not more than there are."""
    return min(n, max(FEWEST, int(seconds / max(each, 1e-9))))
