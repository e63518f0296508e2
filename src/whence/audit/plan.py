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

FEWEST = 50  # examples: below that, an interval says nothing
SEEDS = 5  # for whatever is trained
TRIED = 16  # examples that are timed
SHUFFLES = 100


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


def make_plan(
    subject: Subject,
    examples: Sequence[Example],
    seconds: float,
    *,
    grain: str,
    labelled: bool,
    training_seconds: float | None,
) -> Plan:
    """Ablation first, since it decides question 1; then retraining, then shuffling, each as far as time allows."""
    each = seconds_each(subject, examples)
    places = {"all": 1, "layer": len(subject.sites), "head": 12 * len(subject.sites)}[grain]
    steps: list[Step] = []
    left_out: list[str] = []
    retrain, spent = 0, 0.0
    if labelled:
        passes = 2 + 11 * places
        retrain = affordable_seeds(training_seconds, len(examples) * each * passes, 0.75 * seconds)
        trained = retrain * (3 * (training_seconds or 0.0)) - (training_seconds or 0.0) if retrain else 0.0
        n = fitting((0.8 if retrain else 0.4) * seconds - trained, each * passes * max(retrain, 1), len(examples))
        spent = trained + n * each * passes * max(retrain, 1)
        options = {"limit": n if n < len(examples) else None, "retrain": retrain, "grain": grain}
        steps.append(Step("ablation", options, spent, "what is lost when attention is taken away"))
        if training_seconds is not None and not retrain:
            left_out.append("training again with altered attention does not fit into the time; give a larger --budget")
    else:
        left_out.append("ablation counts right answers, and the examples have none")
    terminal = len(subject.sites) == 1
    cost = each * places * SHUFFLES * (0.05 if terminal else 1.0)
    n = fitting(seconds - spent, cost, len(examples))
    shuffles = SHUFFLES if n * cost <= 1.5 * (seconds - spent) else 20
    options = {"limit": n if n < len(examples) else None, "permutations": shuffles, "grain": grain}
    took = n * cost * shuffles / SHUFFLES
    steps.append(Step("permutation", options, took, "how far predictions move when it is shuffled"))
    if shuffles < SHUFFLES:
        left_out.append(f"each example is shuffled {shuffles} times instead of {SHUFFLES}, to fit into the time")
    return Plan(tuple(steps), tuple(left_out))


def seconds_each(subject: Subject, examples: Sequence[Example]) -> float:
    """How long one example takes in one forward pass, tried on a few."""
    few = examples[:: max(1, len(examples) // TRIED)][:TRIED]
    batch = subject.encode(few)
    subject.predict(batch)
    started = time.perf_counter()
    subject.predict(batch)
    return (time.perf_counter() - started) / len(few)


def affordable_seeds(training_seconds: float | None, one_look: float, seconds: float) -> int:
    """How many seeds can be trained, three models each, within the time; none if not at least two can."""
    if training_seconds is None:
        return 0
    seeds = int(seconds // (3 * training_seconds + one_look))
    return min(SEEDS, seeds) if seeds >= 2 else 0


def fitting(seconds: float, each: float, n: int) -> int:
    """How many examples fit into the time: not fewer than a minimum, not more than there are."""
    return min(n, max(FEWEST, int(seconds / max(each, 1e-9))))
