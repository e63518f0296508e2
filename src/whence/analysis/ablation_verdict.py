"""The verdict on question 1 from what is lost when attention is replaced.

Every ablation votes: *yes* if its whole interval lies above the smallest effect of interest, *no* if it lies below.

- Of this model, uniform attention and its own attention shuffled decide; random attention, which is unlike any that the
  model has, only where neither was tried. Both *yes*: attention matters. Both *no*: it hardly does. One *yes*: in part.
- Of the task, a model retrained with uniform attention decides (with random attention, where that alone was tried).
- Retrained *yes*: attention matters, unless this model loses nothing (then in part). Retrained *no*: it hardly matters,
  unless this model loses (then in part: the task can be learned without, but this model uses it).
"""

from collections.abc import Sequence

from whence.analysis.needed_texts import texts_that_would_decide
from whence.analysis.scores import describe_loss
from whence.measures.intervals.decisions import equivalent, exceeds
from whence.results.verdict import Answer, Effect

WORDS = {"uniform": "uniform attention", "random": "random attention", "permuted": "its own attention shuffled"}
RETRAINED = "train+infer"
OPENINGS: dict[Answer, str] = {
    "yes": "Attention matters: ",
    "yes, in part": "Attention matters in part: ",
    "no": "Attention hardly matters here: ",
    "undecided": "It is not clear whether attention matters: ",
}


def deciding_effects(found: Sequence[Effect]) -> list[Effect]:
    """Those that vote: of each kind of ablation the place with the largest effect; what the task needs comes first."""
    largest: dict[tuple[str, str], Effect] = {}
    for effect in found:
        key = (effect.when, effect.variant)
        if key not in largest or effect.value > largest[key].value:
            largest[key] = effect
    retrained = [effect for (when, _), effect in largest.items() if when == RETRAINED]
    inferred = [effect for (when, _), effect in largest.items() if when != RETRAINED]
    task = [effect for effect in retrained if effect.variant == "uniform"] or retrained
    model = [effect for effect in inferred if effect.variant != "random"] or inferred
    return [*task, *model]


def decide(votes: Sequence[Effect], why_undecidable: str = "") -> tuple[Answer, str]:
    """The answer by the rules above, and its sentence."""
    if why_undecidable:
        return "undecided", why_undecidable
    of_task = joint([stands(effect) for effect in votes if effect.when == RETRAINED])
    of_model = joint([stands(effect) for effect in votes if effect.when != RETRAINED])
    answer = combined(of_task, of_model)
    limit = f"; the limit is {votes[0].smallest:g}" if answer == "undecided" else ""
    return (
        answer,
        f"{OPENINGS[answer]}{'; '.join(map(describe, votes))}{limit}.{why_in_part(answer, of_task, of_model)}",
    )


def stands(effect: Effect) -> bool | None:
    """Whether the whole interval is above the smallest effect (True), below it (False), or neither."""
    return True if exceeds(effect, effect.smallest) else False if equivalent(effect, effect.smallest) else None


def joint(votes: Sequence[bool | None]) -> Answer | None:
    """Several votes of one rank; None if there is none."""
    if not votes:
        return None
    if all(votes):
        return "yes"
    if True in votes:
        return "yes, in part"
    return "no" if all(vote is False for vote in votes) else "undecided"


def combined(of_task: Answer | None, of_model: Answer | None) -> Answer:
    """What retraining and what this model say together."""
    if of_task is None or of_model is None:
        return of_task or of_model or "undecided"
    if of_task == "yes":
        return "yes, in part" if of_model == "no" else "yes"
    if of_task == "no":
        return "yes, in part" if of_model in ("yes", "yes, in part") else "no"
    return of_model if of_model in ("yes", "yes, in part") else "undecided"


def describe(effect: Effect) -> str:
    """A vote in words."""
    weights = f"{WORDS[effect.variant]}{effect.place and f' at {effect.place}'}"
    who = f"a model retrained with {weights}" if effect.when == RETRAINED else f"with {weights}, the model"
    return f"{who} {describe_loss(effect)}"


def why_in_part(answer: Answer, of_task: Answer | None, of_model: Answer | None) -> str:
    """How the votes can all be true."""
    if answer != "yes, in part":
        return ""
    if of_task == "no":
        return " The task can be learned without it, but this model uses it."
    if of_task == "yes":
        return " A model trained without it does worse, but this one would do as well."
    return " It depends on what the weights are replaced by."


def advice(answer: Answer, votes: Sequence[Effect], why_undecidable: str) -> str:
    """About how many texts would decide it."""
    if answer != "undecided" or why_undecidable:
        return ""
    return texts_that_would_decide([effect for effect in votes if stands(effect) is None])
