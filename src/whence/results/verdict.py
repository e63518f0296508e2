"""What an experiment's table says about one of the six questions, in plain words and in numbers."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from whence.measures.intervals import Interval
from whence.measures.intervals.decisions import equivalent, exceeds

QUESTIONS = {
    1: "Does attention matter?",
    2: "Can the question be asked?",
    3: "Is it faithful?",
    4: "Do the tests work here?",
    5: "Is it exclusive?",
    6: "Is it plausible?",
}
Answer = Literal["yes", "yes, in part", "no", "undecided"]
NONE = 0  # in the place of a question's number: what was found answers none of the six
FEWEST = 20  # examples that a verdict needs: of fewer, an interval says too little


@dataclass(frozen=True)
class Effect:
    """A number with its interval. `smallest` is the smallest effect of interest, stated beforehand.

    Rules go by `key`, `place`, `variant` and `when`; `label` is for people, and no rule looks into it.
    """

    key: str  # what was measured: "score_lost"
    label: str  # "accuracy lost with uniform attention, retrained"
    value: float
    low: float
    high: float
    unit: str  # "points of accuracy"
    smallest: float
    n: int  # examples
    seeds: int = 1
    place: str = ""  # where: a site, a layer, a head; empty if everywhere
    variant: str = ""  # what was compared: an explainer, an ablation, a λ
    when: str = ""  # "infer" or "train+infer", where a model may be retrained

    @classmethod
    def of(
        cls,
        key: str,
        label: str,
        measured: Interval,
        unit: str,
        smallest: float,
        n: int,
        seeds: int = 1,
        *,
        place: str = "",
        variant: str = "",
        when: str = "",
    ) -> "Effect":
        """The effect that an interval shows."""
        value, low, high = measured.mean, measured.low, measured.high
        return cls(key, label, value, low, high, unit, smallest, n, seeds, place, variant, when)

    @property
    def interval(self) -> Interval:
        """Its value and interval alone."""
        return Interval(self.value, self.low, self.high)

    @property
    def too_few(self) -> str:
        """A sentence, if there are too few examples to decide anything."""
        there = "There is 1 example" if self.n == 1 else f"There are {self.n} examples"
        return f"{there}, too few to decide anything; a verdict needs {FEWEST}." if self.n < FEWEST else ""

    def judge(self, yes: str, no: str, undecided: str) -> tuple[Answer, str]:
        """The answer and its sentence: *yes* if the whole interval is above the smallest effect of interest, *no* if it
        is below, else *undecided*.
        """
        if exceeds(self, self.smallest):
            return "yes", yes
        return ("no", no) if equivalent(self, self.smallest) else ("undecided", undecided)


@dataclass(frozen=True)
class Verdict:
    """The answer to one question: *yes*, *yes, in part*, *no* or *undecided*, with the effect that decided it and the
    other effects. An experiment that answers none of the six has a question of its own, and the number `NONE`.

    `sentence` needs no knowledge of the papers; `means` and `does_not_mean` say how far it goes.
    """

    question: int
    answer: Answer
    sentence: str
    effects: tuple[Effect, ...]  # the deciding one first
    procedure: str  # what was done
    means: str
    does_not_mean: str
    advice: str = ""  # what would decide it, or what to do instead

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)
