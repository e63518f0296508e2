"""How a model is fitted: epochs, batches, optimizer, learning rate; and which texts it sees when."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import torch
from torch import nn

from whence.models.parts.encoders import PlainModel, scores_attention

WARM_UP_SHARE = 0.1  # share of the steps in which a linear schedule goes up
Optimizer = Literal["amsgrad", "adamw", "adam", "adam98", "adadelta"]
Schedule = Literal["constant", "linear", "noam", "cool-down"]
OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "amsgrad": partial(torch.optim.Adam, amsgrad=True, fused=True),
    "adamw": partial(torch.optim.AdamW, fused=True),
    "adam": partial(torch.optim.Adam, fused=True),
    "adam98": partial(torch.optim.Adam, betas=(0.9, 0.98), fused=True),  # as Vaswani et al. 2017
    "adadelta": partial(torch.optim.Adadelta, rho=0.95, eps=1e-8),  # as in TensorFlow
}


@dataclass(frozen=True)
class Recipe:
    """How to fit. The defaults are Jain & Wallace's (2019) for classification."""

    epochs: int = 8
    batch_size: int = 32
    learning_rate: float = 1e-3
    weight_decay: float = 1e-5  # none on what scores the attention
    patience: int = 3  # epochs without a better score on dev before stopping
    seed: int = 0
    optimizer: Optimizer = "amsgrad"
    schedule: Schedule = "constant"
    clip: float = 0.0  # largest norm of a gradient; 0: any
    dropout_epochs: int = 0  # so many epochs with dropout, then none; 0: all with
    warm_up: int = 500  # steps in which noam's rate goes up
    cool_down: int = 1  # epochs at the end in which the rate of `cool-down` goes to 0
    curriculum: tuple[tuple[int, int], ...] = ()  # (words, epoch): only texts of so many words up to that epoch
    interchangeable: tuple[str, ...] = ()  # groups of words, any of which may stand for any other of its group
    rename_from: int = 0  # epochs before words are renamed
    rename_share: float = 0.5  # share of the examples that are renamed

    def longest(self, epoch: int) -> int | None:
        """How many words a text may have in an epoch; None: any number."""
        return next((words for words, until in self.curriculum if epoch < until), None)


def rate(recipe: Recipe, epochs: float, steps: int) -> float:
    """The learning rate as a share of its largest value, after `epochs` of so many steps each.

    `noam` (Vaswani et al. 2017, Eq. 3) goes up to the step `warm_up`, and then down with the root of the steps;
    `linear` goes up in a tenth of the steps, then down to 0; `cool-down` is constant and goes down to 0 at the end.
    """
    if recipe.schedule == "constant":
        return 1.0
    if recipe.schedule == "noam":
        share = epochs * steps / recipe.warm_up
        return min(share, share**-0.5)
    if recipe.schedule == "cool-down":
        return min(1.0, max(0.0, recipe.epochs - epochs) / recipe.cool_down)
    done = epochs / recipe.epochs
    return min(done / WARM_UP_SHARE, (1.0 - done) / (1.0 - WARM_UP_SHARE))


def parameter_groups(model: nn.Module, recipe: Recipe) -> list[dict[str, Any]]:
    """Parameters with and without weight decay: Jain & Wallace exempt those that score the attention."""
    exempt = model.has_no_decay if isinstance(model, PlainModel) else scores_attention
    named = list(model.named_parameters())
    without = [parameter for name, parameter in named if exempt(name)]
    others = [parameter for name, parameter in named if not exempt(name)]
    return [{"params": others, "weight_decay": recipe.weight_decay}, {"params": without, "weight_decay": 0.0}]
