"""Which experiments an audit wants to run on this model and corpus, what each costs, and its share of the time.

Question 1 is asked by `ablation`, retrained where that can be done and time allows, with `permutation` and single heads
as further evidence; question 2 by `identifiability`, and `seeds` where models are retrained; question 3 by
`faithfulness`; question 4 by `controls`; question 5 by `instance_adversary`, except of models that generate text, and
`adversary` where there is time for one more training; question 6 where there is a reference: words marked as deciding
(`rationales`), sentences with their trees (`syntax`), for a translator links between words (`alignment`), answers of
annotators (`human_evaluation`); or where the labels go with the valence of words, which is a reference for sentiment
(`lexicon`).
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from whence.auditing.costs import SHUFFLES, Costs
from whence.auditing.plan import FEWEST, Wish
from whence.core.errors import BadConfig
from whence.data.examples import Example
from whence.data.lexical.valence import labels_go_with_valence
from whence.results.experiment import experiment
from whence.subject.subject import Subject

SEEDS = 5  # for whatever is trained
RETRAINING = 0.5  # of the time, at most
FEW_SHUFFLES = 20
ADVERSARY = 2.0  # cost of an adversary's training, relative to an ordinary one: its base has to be run, too
SEARCH: dict[str, Any] = {
    "restarts": 2,
    "steps": 40,
    "max_output_change": (0.05,),
}  # where each step runs part of a transformer
QUICK_SEARCH = 0.05  # seconds for one text, where the model need not be run
QUICK_GRADIENTS = ("integrated_gradients.steps=16", "integrated_gradients.most_steps=16")
FAITHFUL = 0.4  # of the time
FEWER: dict[str, Any] = {
    "method": ("raw_attention", "gradient_x_input", "leave_one_out", "random"),
    "erase": ("delete", "replace", "attention"),
    "steps": 6,
    "soft_draws": 1,
    "leave_out": True,
}  # of `faithfulness`, where all of it takes too long


def matters(
    costs: Costs, n: int, seconds: float, *, granularity: str, labelled: bool, least: int = 0
) -> tuple[list[Wish], list[str]]:
    """Question 1: the ablation, retrained from as many seeds as fit (from `least` in any case); then the evidence."""
    wishes, left_out, where = [], [], {"granularity": granularity}
    if labelled:
        seeds, variants = seeds_and_variants(costs, n, RETRAINING * seconds)
        if seeds < least:
            seeds, variants = least, ("uniform",)
        options = {"retrain": seeds, "retrained": variants, **where}
        each, fixed = costs.ablating * max(seeds, 1), costs.retraining(seeds, len(variants))
        wishes.append(Wish("ablation", "how much is lost without attention", each, 0.2, fixed, options))
        if costs.training is not None and seeds < SEEDS:
            left_out.append(f"the budget allows {seeds} of {SEEDS} seeds for retraining, see --budget")
    else:
        left_out.append("no ablation: it needs labels, and not all examples have one")
    shuffles = SHUFFLES if FEWEST * costs.shuffling <= 0.05 * seconds else FEW_SHUFFLES
    each = costs.shuffling * shuffles / SHUFFLES
    why = "how far predictions move when it is shuffled"
    wishes.append(Wish("permutation", why, each, 0.1, options={"permutations": shuffles, **where}, optional=labelled))
    if labelled and costs.heads > 1:
        why = "without which single head the labels become less likely"
        options = {"what": "heads"}
        wishes.append(Wish("representation_erasure", why, costs.erasing_heads, 0.05, options=options, optional=True))
    return wishes, left_out


def seeds_and_variants(costs: Costs, n: int, seconds: float) -> tuple[int, tuple[str, ...]]:
    """How many seeds to train and in which variants: uniform attention decides; random too if all seeds fit."""
    if costs.training is None:
        return 0, ()
    for variants in (("uniform", "random"), ("uniform",)):
        for seeds in range(SEEDS, 1, -1):
            needed = costs.retraining(seeds, len(variants)) + seeds * min(n, 4 * FEWEST) * costs.ablating
            if needed <= seconds and (seeds == SEEDS or variants == ("uniform",)):
                return seeds, variants
    return 0, ()


def of_any_model(
    subject: Subject,
    examples: Sequence[Example],
    costs: Costs,
    seconds: float,
    *,
    labelled: bool = True,
    annotations: Path | None = None,
) -> list[Wish]:
    """Questions 2 to 6, as far as this model and corpus allow."""
    generates = subject.task.name == "seq2seq"
    wishes = [_faithful(costs, seconds)]
    if not generates:
        wishes.append(_exclusive(subject, costs))
        why = "whether there is enough attention to ask about"
        wishes.append(Wish("identifiability", why, 4 * costs.each, 0.03))
    if subject.task.name == "sequence-classification" and labelled:
        wishes.append(_controls(costs, seconds))
    for name, why, has, options in PLAUSIBLE:
        if any(has(example) for example in examples) and (name != "alignment" or generates):
            wishes.append(Wish(name, why, 2 * costs.each, 0.04, options=dict(options)))
    return wishes + (annotated(annotations) or _sentiment(subject, examples, costs, wishes, labelled))


def _sentiment(
    subject: Subject, examples: Sequence[Example], costs: Costs, wishes: Sequence[Wish], labelled: bool
) -> list[Wish]:
    """The valence of words, for a sentiment classifier whose corpus has no reference of its own."""
    marked = {wish.experiment for wish in wishes} & {name for name, *_ in PLAUSIBLE}
    classifies = labelled and subject.task.name == "sequence-classification"
    if marked or not classifies or not labels_go_with_valence(examples):
        return []
    why = "whether words that people find good or bad get more attention"
    return [Wish("lexicon", why, 4 * costs.each, 0.04, options={"method": ("raw_attention", "random")})]


def _faithful(costs: Costs, seconds: float) -> Wish:
    """Words removed: in every way and by all explainers, or where that takes too long, in fewer."""
    why = "whether the words attended to are those that decide"
    all_ways = Wish("faithfulness", why, costs.removing(6, 4, 8), FAITHFUL, options={"options": QUICK_GRADIENTS})
    if all_ways.seconds(2 * FEWEST) <= FAITHFUL * seconds:
        return all_ways
    each = costs.removing(len(FEWER["method"]), len(FEWER["erase"]), FEWER["steps"])
    return Wish("faithfulness", why, each, FAITHFUL, options=dict(FEWER))


def _exclusive(subject: Subject, costs: Costs) -> Wish:
    """The search for other attention: a short one, where each step runs part of the model."""
    pooling = any(site.kind == "pool" for site in subject.sites.values())
    each = QUICK_SEARCH if pooling else 3 * SEARCH["steps"] * SEARCH["restarts"] * costs.each / len(subject.sites)
    why = "whether very different attention gives the same predictions"
    return Wish("instance_adversary", why, each, 0.15, options={} if pooling else dict(SEARCH))


def _controls(costs: Costs, seconds: float) -> Wish:
    """The tests of the tests: a copy is fine-tuned within a tenth of the time."""
    tuning = round(min(60.0, 0.1 * seconds))
    why = "whether the tests find what is known"
    explained = costs.each * FEWEST * (60 + 5 * costs.words)
    return Wish("controls", why, 2 * costs.each, 0.02, tuning + explained, {"tuning": tuning}, optional=True)


def trained(costs: Costs, seeds: int, seconds: float) -> list[Wish]:
    """What compares retrained models with this one, if there are several."""
    if costs.training is None or seeds < 2:
        return []
    why = "how much its attention depends on the seed"
    wishes = [Wish("seeds", why, 2 * seeds * costs.each, 0.03, options={"others": seeds - 1}, optional=True)]
    if ADVERSARY * costs.training <= 0.15 * seconds:
        why = "whether a model can learn to attend differently and to predict the same"
        options = {"strengths": (1.0,), "yardstick": seeds - 1}
        fixed = ADVERSARY * costs.training
        wishes.append(Wish("adversary", why, 2 * costs.each, 0.03, fixed, options, optional=True))
    return wishes


def annotated(folder: Path | None) -> list[Wish]:
    """The answers of annotators, if there is a study; nothing is run for them."""
    if folder is None:
        return []
    why = "whether people find the highlighted words relevant"
    return [Wish("human_evaluation", why, 0.0, 0.01, 1.0, {"annotations": str(folder)}, limited=False)]


def asked_for(names: Sequence[str], labelled: bool, costs: Costs) -> tuple[list[Wish], list[str]]:
    """The experiments that were asked for by name, and notes on those that this corpus does not allow."""
    wishes, left_out = [], []
    for name in dict.fromkeys(names):
        asked = experiment(name)
        if not asked.needs.model:
            raise BadConfig(
                f"{name} trains its own models; an audit runs experiments on one model: `whence run {name}`"
            )
        if asked.needs.labels and not labelled:
            left_out.append(f"no {name}: it needs labels, and not all examples have one")
            continue
        limited = "limit" in asked.config.model_fields
        wishes.append(Wish(name, asked.question, 2 * costs.each, 0.05, limited=limited))
    return wishes, left_out


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
