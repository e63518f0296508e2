"""Questions after the first: which experiments ask them of this corpus, and on how many examples.

Question 3, whether attention is faithful, can be tested on every model (`erasure`), and so can question 5, whether it
is exclusive (`instance_adversary`), except on those that generate text. Question 6, whether it is plausible, needs a
reference: words marked as deciding (`rationales`), sentences with their trees (`syntax`), or for a translator links
between words (`alignment`). Each gets its share of the time, and leaves what it does not need to the others. For a
model that can be retrained, the audit also tests how much its attention depends on the seed (`seeds`, question 2), with
the models that the ablation has trained; and if there is time for one more training, whether a whole model can attend
differently (`adversary`, question 5).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from whence.auditing.plan import Costs, Plan, Step, fitting
from whence.core.errors import BadConfig
from whence.data.examples import Example
from whence.results.experiment import experiment
from whence.subject.subject import Subject

ERASING, LOOKING, SEARCHING = 0.2, 0.05, 0.15  # shares of the time
ADVERSARY = 2.0  # cost of an adversary's training, relative to an ordinary one: its base has to be run, too
SEARCH: dict[str, Any] = {
    "restarts": 2,
    "steps": 40,
    "max_output_change": (0.05,),
}  # where each step runs part of a transformer
QUICK_SEARCH = 0.05  # seconds for one text, where the model need not be run
ORDERS = 3  # in which words are removed: by attention, by gradients, at random
REPLAYED = 0.05  # of a pass, where only what comes after the one site is run again


def optional_steps(subject: Subject, examples: Sequence[Example], costs: Costs, seconds: float) -> list[Step]:
    """The steps that this corpus allows, each with as many examples as its share of the time has room for."""
    words = sum(len(example.text.split()) for example in examples) / len(examples)
    removals = ORDERS * words * (REPLAYED if len(subject.sites) == 1 else 1.0)
    why = "whether predictions change without the words attended to"
    steps = [_step("erasure", why, costs.each * removals, ERASING * seconds, examples, {})]
    steps += [] if subject.task.name == "seq2seq" else _exclusive(subject, examples, costs, SEARCHING * seconds)
    for name, why, has, options in PLAUSIBLE:
        if any(has(example) for example in examples) and (name != "alignment" or subject.task.name == "seq2seq"):
            steps.append(_step(name, why, 2 * costs.each, LOOKING * seconds, examples, options))
    return steps


def _exclusive(subject: Subject, examples: Sequence[Example], costs: Costs, seconds: float) -> list[Step]:
    """The search for other attention: a short one, where each step runs part of the model."""
    pooling = any(site.kind == "pool" for site in subject.sites.values())
    each = QUICK_SEARCH if pooling else 3 * SEARCH["steps"] * SEARCH["restarts"] * costs.each / len(subject.sites)
    why = "whether very different attention gives the same predictions"
    return [_step("instance_adversary", why, each, seconds, examples, {} if pooling else SEARCH)]


def with_trained_models(plan: Plan, costs: Costs, examples: Sequence[Example], seconds: float) -> Plan:
    """The plan with the steps that compare trained models with this one, if it trains some."""
    seeds = max((int(step.options.get("retrain") or 0) for step in plan.steps), default=0)
    if costs.training is None or seeds < 2:
        return plan
    looking, why = LOOKING * seconds, "how much its attention depends on the seed"
    steps = [_step("seeds", why, 2 * seeds * costs.each, looking, examples, {"others": seeds - 1})]
    if ADVERSARY * costs.training <= SEARCHING * seconds:
        options = {"strengths": (1.0,), "yardstick": seeds - 1}
        why = "whether a model can learn to attend differently and to predict the same"
        step = _step("adversary", why, 2 * costs.each, looking, examples, options)
        steps.append(replace(step, seconds=step.seconds + ADVERSARY * costs.training))
    return replace(plan, steps=(*plan.steps, *steps))


def extra_steps(
    names: Sequence[str], labelled: bool, costs: Costs, examples: Sequence[Example], seconds: float
) -> tuple[list[Step], list[str]]:
    """The experiments that were asked for by name, and notes on those that this corpus does not allow."""
    steps, left_out = [], []
    for name in dict.fromkeys(names):
        asked = experiment(name)
        if not asked.needs.model:
            raise BadConfig(
                f"{name} trains its own models; an audit runs experiments on one model: `whence run {name}`"
            )
        if asked.needs.labels and not labelled:
            left_out.append(f"no {name}: it needs labels, and not all examples have one")
            continue
        step = _step(name, asked.question, 2 * costs.each, LOOKING * seconds, examples, {})
        options = step.options if "limit" in asked.config.model_fields else {}
        steps.append(replace(step, options=options))
    return steps, left_out


def _step(
    name: str, why: str, each: float, seconds: float, examples: Sequence[Example], options: dict[str, Any]
) -> Step:
    few = fitting(seconds, each, len(examples))
    return Step(name, {"limit": few if few < len(examples) else None, **options}, few * each, why)


PLAUSIBLE: list[tuple[str, str, Callable[[Example], bool], dict[str, object]]] = [
    (
        "rationales",
        "whether the words attended to are those marked as deciding",
        lambda example: bool(example.rationale) and any(example.rationale or ()),
        {"method": ("raw_attention", "random")},
    ),
    (
        "syntax",
        "whether heads attend along the sentences' trees",
        lambda example: example.heads is not None,
        {"draws": 1},
    ),
    (
        "alignment",
        "whether words of a translation attend to those they translate",
        lambda example: example.alignment is not None,
        {},
    ),
]
