"""Scores of explainers while a model's weights are re-initialised, from the output down. Adebayo et al. 2018, §3.

The parts of a model are its layers and whatever else has parameters, in the order in which they run. The last one is
re-initialised first, then the one before it too, until the whole model is random.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import nn

from whence.attribution.registry import explainer
from whence.evaluation.context import Context
from whence.evaluation.rationale_match import RANDOM
from whence.evaluation.retraining import with_random_weights
from whence.evaluation.validity.model_copy import copied
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target, predicted

Sizes = Mapping[str, Float[ndarray, "batch token"]]  # of the scores, by method
FEWEST = 3  # tokens that have an order worth comparing


class Stage(NamedTuple):
    """Which parameters are random: those of the part `place`, and of all that run after it."""

    place: str
    parameters: frozenset[str]


class Agreement(NamedTuple):
    """How far an explainer's order of a text's tokens agrees with the one before, after a stage."""

    example: int
    method: str
    stage: int
    place: str
    correlation: float


def cascade(context: Context, methods: Sequence[str], count: int) -> Iterator[Agreement]:
    """Spearman's ρ of every text by every method, after each of so many stages.

    Tokens are compared by the size of their scores, for the class that the model predicted with its own weights. The
    random explainer draws anew at each stage.
    """
    first, before = context.first_batch(), [_explained(context, batch, methods) for batch in context.batches()]
    model, own = copied(context.subject, first), context.subject.model.state_dict()
    other = with_random_weights(context.subject, context.seed + 1).model.state_dict()
    for number, stage in enumerate(stages(context.subject, first, count)):
        model.model.load_state_dict({name: (other if name in stage.parameters else own)[name] for name in own})
        for batch, target, originals in before:
            now = sizes_by(context, model, batch, target, methods, number)
            for method in methods:
                found = correlations(originals[method], now[method], batch)
                for example, rho in zip(context.numbers_of(batch), found, strict=True):
                    yield Agreement(example, method, number, stage.place, rho)


def _explained(context: Context, batch: Batch, methods: Sequence[str]) -> tuple[Batch, Target, Sizes]:
    target = predicted(context.subject, batch, "margin")
    return batch, target, sizes_by(context, context.subject, batch, target, methods, -1)


def sizes_by(
    context: Context, subject: Subject, batch: Batch, target: Target, methods: Sequence[str], stage: int
) -> Sizes:
    """The size of every token's score by each method."""
    drawn: dict[str, Any] = {RANDOM: {"seed": context.seed + 1 + stage}}
    found = {method: explainer(method)(subject, batch, target, **drawn.get(method, {})) for method in methods}
    return {method: np.abs(one.scores) for method, one in found.items()}


def correlations(
    before: Float[ndarray, "batch token"], after: Float[ndarray, "batch token"], batch: Batch
) -> Iterator[float]:
    """Spearman's ρ of each text's tokens that are not special."""
    for one, other, special in zip(before, after, batch.special.numpy(), strict=True):
        yield spearman(one[~special], other[~special])


def spearman(before: Float[ndarray, " token"], after: Float[ndarray, " token"]) -> float:
    """The correlation of ranks; 0 if only the second has no order, NaN if the first has none or there are too few."""
    from scipy.stats import rankdata  # which takes a second to import

    if len(before) < FEWEST or np.ptp(before) == 0:
        return float("nan")
    return 0.0 if np.ptp(after) == 0 else float(np.corrcoef(rankdata(before), rankdata(after))[0, 1])


def stages(subject: Subject, batch: Batch, count: int) -> list[Stage]:
    """So many stages at most, spread evenly: the first is the last part alone, the last the whole model."""
    parts = parts_in_order(subject, batch)[::-1]
    so_far = accumulate((names for _, names in parts), lambda below, names: below | names)
    whole = [Stage(place, names) for (place, _), names in zip(parts, so_far, strict=True)]
    whole[-1] = Stage(whole[-1].place, frozenset(subject.model.state_dict()))
    chosen = sorted({round(place) for place in np.linspace(0, len(whole) - 1, max(count, 2))})
    return [whole[number] for number in chosen]


def parts_in_order(subject: Subject, batch: Batch) -> list[tuple[str, frozenset[str]]]:
    """The parts of a model that have parameters, in the order in which they first run, with the names of these.

    A parameter that two parts share belongs to the one that runs first: a language model's output layer that is its
    table of word vectors is re-initialised with that.
    """
    order = modules_in_order(subject, batch)
    names = {module: name for name, module in subject.model.named_modules()}
    parts: dict[str, set[str]] = {}
    taken: set[int] = set()
    for module in order:
        own = {key: one for key, one in module.named_parameters(recurse=False) if id(one) not in taken}
        taken |= {id(one) for one in own.values()}
        if own:
            parts.setdefault(part_of(names[module], subject.model), set()).update(
                f"{names[module]}.{key}" for key in own
            )
    return [(place, frozenset(keys)) for place, keys in parts.items()]


@torch.no_grad()
def modules_in_order(subject: Subject, batch: Batch) -> list[nn.Module]:
    """The modules in the order in which they first run."""
    order: dict[nn.Module, None] = {}

    def ran(module: nn.Module, args: Any) -> None:
        order.setdefault(module)

    hooks = [module.register_forward_pre_hook(ran) for module in subject.model.modules()]
    try:
        subject.logits(batch)
    finally:
        for hook in hooks:
            hook.remove()
    return list(order)


def part_of(name: str, model: nn.Module) -> str:
    """The layer that a module is in, if it is in a list of layers; else the module itself."""
    path = name.split(".")
    for depth in range(1, len(path)):
        if path[depth].isdigit() and isinstance(model.get_submodule(".".join(path[:depth])), nn.ModuleList):
            return ".".join(path[: depth + 1])
    return name
