"""The plan of an audit: which experiments, on how many examples, fit into the time budget.

Every experiment has a share of the time. It gets as many examples as its share has room for, and at least so many that
an interval says something; what one experiment does not need goes to the others, so that the whole budget is used. The
plan is made once and saved, so that an interrupted audit resumes with the same one, even if the machine's speed has
changed.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from whence.core.errors import BadConfig

CHEAP = 0.03  # of the time: nothing is gained by leaving out what takes less
FEWEST = 50  # examples: below that, an interval says little


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
class Wish:
    """An experiment that shall be run: what it costs, which share of the time it has, and why it is run.

    `fixed` seconds it takes in any case, `each` for every example. Without `limited` it takes all examples. What is
    `optional` is left out of an audit that would not fit otherwise.
    """

    experiment: str
    why: str
    each: float
    share: float
    fixed: float = 0.0
    options: dict[str, Any] = field(default_factory=dict)
    limited: bool = True
    optional: bool = False

    def seconds(self, examples: int) -> float:
        """What so many examples take."""
        return self.fixed + self.each * examples

    def least(self, n: int) -> int:
        """On how many of n examples it is run at least."""
        return min(n, FEWEST) if self.limited else n


def least_seconds(wishes: Sequence[Wish], n: int) -> float:
    """What the least sensible audit takes: every experiment on as few examples as say something."""
    return sum(wish.seconds(wish.least(n)) for wish in wishes)


def without_optional(wishes: Sequence[Wish], n: int, seconds: float) -> tuple[list[Wish], list[str]]:
    """The wishes that fit, the dearest optional ones left out until they do, with a note on each.

    What takes hardly any time stays.
    """
    kept, left_out = list(wishes), []
    while least_seconds(kept, n) > seconds:
        dear = [wish for wish in kept if wish.optional and wish.seconds(wish.least(n)) > CHEAP * seconds]
        if not dear:
            break
        dearest = max(dear, key=lambda wish: wish.seconds(wish.least(n)))
        kept.remove(dearest)
        takes = dearest.seconds(dearest.least(n)) / 60
        left_out.append(f"no {dearest.experiment}: it would take {takes:.1f} minutes at least, see --budget")
    return kept, left_out


def refuse_too_little(wishes: Sequence[Wish], n: int, seconds: float) -> None:
    """Refuse a budget in which no sensible audit fits, before it begins."""
    least = least_seconds(wishes, n)
    if least > 1.25 * seconds:
        raise BadConfig(
            f"an audit of {min(n, FEWEST)} texts takes about {least / 60:.1f} minutes here, and the budget is"
            f" {seconds / 60:.1f}; give it --budget {ceil_tenth(least / 60):g}, or --force to run it all the same (it"
            " will take longer than the budget)"
        )


def ceil_tenth(minutes: float) -> float:
    """Minutes, rounded up to a tenth; whole above ten."""
    step = 1.0 if minutes > 10 else 0.1
    return round(-(-minutes // step) * step, 1)


def fill(wishes: Sequence[Wish], n: int, seconds: float) -> list[Step]:
    """The steps: each wish with as many examples as fit, until the time is used or nothing is left to do."""
    counts = [wish.least(n) for wish in wishes]
    while True:
        rest = seconds - sum(wish.seconds(count) for wish, count in zip(wishes, counts, strict=True))
        open_ = [at for at, wish in enumerate(wishes) if wish.limited and counts[at] < n]
        shares = sum(wishes[at].share for at in open_)
        more = {at: int(rest * wishes[at].share / shares / max(wishes[at].each, 1e-9)) for at in open_} if open_ else {}
        if not any(extra > 0 for extra in more.values()):
            return [_step(wish, count, n) for wish, count in zip(wishes, counts, strict=True)]
        for at, extra in more.items():
            counts[at] = min(n, counts[at] + max(extra, 0))


def _step(wish: Wish, count: int, n: int) -> Step:
    limit = {"limit": count if count < n else None} if wish.limited else {}
    return Step(wish.experiment, {**limit, **wish.options}, wish.seconds(count), wish.why)
