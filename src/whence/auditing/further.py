"""Questions beside the first: which experiments ask them of this corpus, and on how many examples.

Question 3, whether attention is faithful, can be asked of every model (`erasure`). Question 6, whether it is plausible,
needs somebody's word: marks of the words that decide (`rationales`), or sentences with their trees (`syntax`). Each
gets its share of the time, and what it does not need is left to the others.
"""

from collections.abc import Callable, Sequence

from whence.auditing.plan import Costs, Step, fitting
from whence.data.examples import Example
from whence.models.subject import Subject

ERASING, LOOKING = 0.2, 0.05  # shares of the time
ORDERS = 3  # in which words are removed: by attention, by gradients, at random
REPLAYED = 0.05  # of a pass, where only what lies after the one site is run again


def further_steps(subject: Subject, examples: Sequence[Example], costs: Costs, seconds: float) -> list[Step]:
    """The steps that this corpus allows, each with as many examples as its share of the time has room for."""
    words = sum(len(example.text.split()) for example in examples) / len(examples)
    removals = ORDERS * words * (REPLAYED if len(subject.sites) == 1 else 1.0)
    steps = [_step("erasure", "what becomes of decisions without the words attended to", costs.each * removals,
                   ERASING * seconds, examples, {})]  # fmt: skip
    for name, why, has, options in PLAUSIBLE:
        if any(has(example) for example in examples):
            steps.append(_step(name, why, 2 * costs.each, LOOKING * seconds, examples, options))
    return steps


def _step(
    name: str, why: str, each: float, seconds: float, examples: Sequence[Example], options: dict[str, object]
) -> Step:
    few = fitting(seconds, each, len(examples))
    return Step(name, {"limit": few if few < len(examples) else None, **options}, few * each, why)


PLAUSIBLE: list[tuple[str, str, Callable[[Example], bool], dict[str, object]]] = [
    ("rationales", "whether the words attended to are those marked as deciding",
     lambda example: bool(example.rationale) and any(example.rationale or ()), {"method": ("raw_attention", "random")}),
    ("syntax", "whether heads attend as the sentences' trees would have it", lambda example: example.heads is not None,
     {"draws": 1}),
]  # fmt: skip
