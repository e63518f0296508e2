"""Questions beside the first: which experiments ask them of this corpus, and on how many examples.

Question 3, whether attention is faithful, can be asked of every model (`erasure`), and so can question 5, whether it is
exclusive (`instance_adversary`), of all that do not write texts. Question 6, whether it is plausible, needs somebody's
word: marks of the words that decide (`rationales`), sentences with their trees (`syntax`), or for a translator links
between words (`alignment`). Each gets its share of the time, and what it does not need is left to the others. Of a
model that can be trained again it is asked, too, how much its attention depends on the seed (`seeds`, question 2), with
the models that the ablation has trained; and if there is time for one more training, whether a whole model can attend
otherwise (`adversary`, question 5).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from whence.auditing.plan import Costs, Plan, Step, fitting
from whence.data.examples import Example
from whence.subject.subject import Subject

ERASING, LOOKING, OPPOSING = 0.2, 0.05, 0.15  # shares of the time
ADVERSARY = 2.0  # an adversary's training beside an ordinary one: its base has to be asked, too
SEARCH: dict[str, Any] = {
    "restarts": 2,
    "steps": 40,
    "max_output_change": (0.05,),
}  # where each step runs part of a transformer
QUICK_SEARCH = 0.05  # seconds for one text, where the model need not be run
ORDERS = 3  # in which words are removed: by attention, by gradients, at random
REPLAYED = 0.05  # of a pass, where only what lies after the one site is run again


def further_steps(subject: Subject, examples: Sequence[Example], costs: Costs, seconds: float) -> list[Step]:
    """The steps that this corpus allows, each with as many examples as its share of the time has room for."""
    words = sum(len(example.text.split()) for example in examples) / len(examples)
    removals = ORDERS * words * (REPLAYED if len(subject.sites) == 1 else 1.0)
    steps = [_step("erasure", "what becomes of decisions without the words attended to", costs.each * removals,
                   ERASING * seconds, examples, {})]  # fmt: skip
    steps += [] if subject.task.name == "seq2seq" else _exclusive(subject, examples, costs, OPPOSING * seconds)
    for name, why, has, options in PLAUSIBLE:
        if any(has(example) for example in examples) and (name != "alignment" or subject.task.name == "seq2seq"):
            steps.append(_step(name, why, 2 * costs.each, LOOKING * seconds, examples, options))
    return steps


def _exclusive(subject: Subject, examples: Sequence[Example], costs: Costs, seconds: float) -> list[Step]:
    """The search for other attentions: a short one, where each step runs part of the model."""
    pooling = any(site.kind == "pool" for site in subject.sites.values())
    each = QUICK_SEARCH if pooling else 3 * SEARCH["steps"] * SEARCH["restarts"] * costs.each / len(subject.sites)
    why = "whether quite another attention gives the same answers"
    return [_step("instance_adversary", why, each, seconds, examples, {} if pooling else SEARCH)]


def after_training(plan: Plan, costs: Costs, examples: Sequence[Example], seconds: float) -> Plan:
    """The plan with the steps that set trained models beside this one, if it trains some."""
    seeds = max((int(step.options.get("retrain") or 0) for step in plan.steps), default=0)
    if costs.training is None or seeds < 2:
        return plan
    steps = [_step("seeds", "how much its attention depends on the seed", 2 * seeds * costs.each, LOOKING * seconds,
                   examples, {"others": seeds - 1})]  # fmt: skip
    if ADVERSARY * costs.training <= OPPOSING * seconds:
        step = _step("adversary", "whether a model can learn to attend otherwise and to answer alike", 2 * costs.each,
                     LOOKING * seconds, examples, {"strengths": (1.0,), "yardstick": seeds - 1})  # fmt: skip
        steps.append(replace(step, seconds=step.seconds + ADVERSARY * costs.training))
    return replace(plan, steps=(*plan.steps, *steps))


def _step(
    name: str, why: str, each: float, seconds: float, examples: Sequence[Example], options: dict[str, Any]
) -> Step:
    few = fitting(seconds, each, len(examples))
    return Step(name, {"limit": few if few < len(examples) else None, **options}, few * each, why)


PLAUSIBLE: list[tuple[str, str, Callable[[Example], bool], dict[str, object]]] = [
    ("rationales", "whether the words attended to are those marked as deciding",
     lambda example: bool(example.rationale) and any(example.rationale or ()), {"method": ("raw_attention", "random")}),
    ("syntax", "whether heads attend as the sentences' trees would have it", lambda example: example.heads is not None,
     {"draws": 1}),
    ("alignment", "whether words of a translation attend to those they translate",
     lambda example: example.alignment is not None, {}),
]  # fmt: skip
