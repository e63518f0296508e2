"""Whether a training works: the gradient that reaches each part, parts whose weights die, a score at chance level.

In the pair models of Vashishth et al. 2019 (Eq. 2) the second text reaches the prediction through the attention weights
alone. At torch's initialisation its gradient is ten thousand times smaller than the first text's, and weight decay then
shrinks its encoder to nothing: the loss looks normal, and the model stays at chance. So every training is watched.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from whence.data.examples import Example
from whence.measures.chunk_f1 import is_iob
from whence.subject.subject import Subject

STEPS = 20  # the first steps, whose gradients are recorded
FAINT = 1e-3  # of the largest part's gradient norm: a part that gets less learns nothing
DEAD = 0.2  # of its first norm: a part that has less left has died
ERRORS = 2.0  # standard errors by which a score must exceed that of the majority class


def parts(model: nn.Module) -> dict[str, list[nn.Parameter]]:
    """The parameters that are trained, by the part of the model that they belong to."""
    found: dict[str, list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            found.setdefault(name.partition(".")[0], []).append(parameter)
    return found


@torch.no_grad()
def norms(model: nn.Module) -> dict[str, float]:
    """The norm of each part's parameters."""
    return {name: _norm(list(of_part)) for name, of_part in parts(model).items()}


@torch.no_grad()
def gradient_norms(model: nn.Module) -> dict[str, float]:
    """The norm of the gradient that each part has; 0 where none came."""
    return {
        name: _norm([parameter.grad for parameter in of_part if parameter.grad is not None])
        for name, of_part in parts(model).items()
    }


def _norm(tensors: Sequence[Tensor]) -> float:
    return math.sqrt(sum(float(tensor.detach().float().square().sum()) for tensor in tensors))


@dataclass(frozen=True)
class Health:
    """What was seen in a training. `gradients` are means over the first steps; `norms` of each part before the first
    epoch and after the last; `chance` is the score of the most frequent class on dev, `learned` whether the best epoch
    is better than that, None where that is not known.
    """

    gradients: Mapping[str, float]
    norms: Mapping[str, tuple[float, float]]
    chance: float | None
    learned: bool | None

    @property
    def warnings(self) -> list[str]:
        """What is wrong, in sentences; empty if nothing is."""
        found, largest = list[str](), max(self.gradients.values(), default=0.0)
        for name, gradient in self.gradients.items():
            if gradient < FAINT * largest:
                found.append(
                    f"{name} got a gradient of norm {gradient:.1e} in the first {STEPS} steps, where the largest part"
                    f" got {largest:.1e}"
                )
        for name, (before, after) in self.norms.items():
            if after < DEAD * before:
                found.append(f"the norm of {name} fell from {before:.3g} to {after:.3g}")
        if self.learned is False:
            found.append(f"the model did not learn: its best epoch is no better than chance on dev ({self.chance:.3f})")
        return found

    def to_json(self) -> dict[str, Any]:
        """For the record of a training."""
        rounded = {
            "gradients": {name: float(f"{value:.3g}") for name, value in self.gradients.items()},
            "norms": {name: [float(f"{value:.3g}") for value in pair] for name, pair in self.norms.items()},
        }
        return {**rounded, "chance": self.chance, "learned": self.learned, "warnings": self.warnings}


def better_than_chance(best: float, chance: float | None, n: int) -> bool | None:
    """Whether a score of n examples exceeds that of the majority class by two standard errors."""
    if chance is None:
        return None
    return best > chance + ERRORS * math.sqrt(max(chance * (1 - chance), 1 / n) / n)


def chance_score(subject: Subject, dev: Sequence[Example]) -> float | None:
    """The score on dev of whoever always predicts the most frequent class: the share of it; 0 for the concordance of
    narratives and for the F1 of chunks, which are no chunks if all tags are the same; None for a translator.
    """
    if subject.task.predicts_values or (subject.task.needs == "tags" and is_iob(subject.labels)):
        return 0.0
    if subject.task.needs == "tags":
        shares = Counter(tag for example in dev for tag in example.tags or ())
        return max(shares.values()) / sum(shares.values())
    if subject.task.needs != "label":
        return None
    return max(Counter(str(example.label) for example in dev).values()) / len(dev)
