"""Fitting a subject to examples: epochs, early stopping, checkpoints, and resuming after a kill.

Whatever is random in an epoch (the order of the texts, dropout, random attention) is drawn from streams that the seed
and the number of the epoch determine. So a run that was killed resumes after its last finished epoch with the
same result.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Generator, Tensor, nn
from tqdm.auto import tqdm

from whence.core.attending import attending
from whence.core.errors import BadData
from whence.core.seeds import stream
from whence.data.examples import Example
from whence.models.parts.encoders import PlainModel, scores_attention
from whence.subject.batch import Batch
from whence.subject.metrics import Rules, score
from whence.subject.subject import Subject
from whence.subject.threads import suited

POOL = 50  # batches' worth of texts that are sorted by length together
MAX_CACHED_TEXTS = 50_000  # texts whose batches are kept in memory between epochs
WARM_UP_SHARE = 0.1  # share of the steps in which a linear schedule goes up
OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "amsgrad": partial(torch.optim.Adam, amsgrad=True),
    "adamw": torch.optim.AdamW,
    "adam": torch.optim.Adam,
    "adam98": partial(torch.optim.Adam, betas=(0.9, 0.98)),  # as Vaswani et al. 2017
    "adadelta": partial(torch.optim.Adadelta, rho=0.95, eps=1e-8),  # as in TensorFlow
}


@dataclass(frozen=True)
class Recipe:
    """How to fit. The defaults are Jain & Wallace's (2019) for classification."""

    epochs: int = 8
    batch_size: int = 32
    learning_rate: float = 1e-3
    weight_decay: float = 1e-5  # none on the attention's own parameters
    patience: int = 3  # epochs without a better score on dev before stopping
    seed: int = 0
    optimizer: Literal["amsgrad", "adamw", "adam", "adam98", "adadelta"] = "amsgrad"
    schedule: Literal["constant", "linear", "noam"] = "constant"  # linear: up in a tenth of the steps, then down to 0
    clip: float = 0.0  # largest norm of a gradient; 0: any
    dropout_epochs: int = 0  # so many epochs with dropout, then none; 0: all with
    warm_up: int = 500  # steps in which noam's rate goes up


class Objective:
    """What training minimises, batch by batch, and what selects the best epoch: by default, the labels decide both."""

    def loss(self, subject: Subject, batch: Batch) -> Float[Tensor, ""]:
        """What training minimises."""
        return loss_of(subject, batch)

    def score(self, subject: Subject, dev: Sequence[Example], batch_size: int, override: Rules | None) -> float:
        """What selects the best epoch."""
        return score(subject, dev, batch_size, override)


@dataclass
class Progress:
    """The state of a run; all of it is in the checkpoint."""

    epoch: int = 0
    best: float = float("-inf")
    waited: int = 0
    losses: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)


def fit(
    subject: Subject,
    train: Sequence[Example],
    dev: Sequence[Example],
    recipe: Recipe,
    *,
    checkpoint: Path | None = None,
    override: Callable[[Generator], Rules] | None = None,
    each_epoch: Callable[[int, Subject], None] | None = None,
    objective: Objective | None = None,
    quiet: bool = False,
) -> Progress:
    """Fit the subject's model in place, and leave it as it was in its best epoch on `dev`.

    The default `objective` is to predict the labels. `override` makes a rule for the attention of
    a whole epoch, in training and on dev alike (*train+infer* of Vashishth et al. 2019). With a `checkpoint` path, the
    run is written there after every epoch, and resumed from there. `each_epoch` is called with the number of epochs
    done and the subject at that point: with 0 before the first, and after every one. A resumed run calls it for the
    epochs that it trains, so that none is missed, and one may come twice.
    """
    if not train or not dev:
        raise BadData(f"fitting needs examples to train on and to select by; came {len(train)} and {len(dev)}")
    model, objective = subject.model, objective or Objective()
    optimizer = OPTIMIZERS[recipe.optimizer](_groups(model, recipe), lr=recipe.learning_rate)
    progress, kept = Progress(), {name: tensor.clone() for name, tensor in model.state_dict().items()}
    if checkpoint is not None and checkpoint.exists():
        progress, kept = _resume(checkpoint, model, optimizer)
    batches = in_batches(subject, train, recipe)
    bar = tqdm(
        total=recipe.epochs, initial=progress.epoch, desc=f"training {subject.name}", unit="epoch", disable=quiet
    )
    with bar, torch.random.fork_rng(), suited(model):
        if each_epoch is not None and progress.epoch == 0:
            each_epoch(0, subject)
        while progress.epoch < recipe.epochs and progress.waited < recipe.patience:
            loss = _epoch(subject, batches, recipe, optimizer, progress.epoch, override, objective)
            reached = objective.score(
                subject, dev, recipe.batch_size, _rule(override, recipe.seed, progress.epoch, "dev")
            )
            progress.losses.append(loss)
            progress.scores.append(reached)
            progress.epoch += 1
            progress.waited += 1
            if reached > progress.best:
                progress.best, progress.waited = reached, 0
                kept = {name: tensor.clone() for name, tensor in model.state_dict().items()}
            bar.update()
            bar.set_postfix(loss=f"{loss:.3f}", dev=f"{reached:.3f}")
            if each_epoch is not None:
                each_epoch(progress.epoch, subject)  # before the epoch counts as done
            if checkpoint is not None:
                _write(checkpoint, model, optimizer, progress, kept)
    model.load_state_dict(kept)
    return progress


def _epoch(
    subject: Subject,
    batches: Sequence[Callable[[], Batch]],
    recipe: Recipe,
    optimizer: torch.optim.Optimizer,
    epoch: int,
    override: Callable[[Generator], Rules] | None,
    objective: Objective,
) -> float:
    """One pass over the training texts; the mean loss."""
    torch.manual_seed(stream(recipe.seed, f"epoch {epoch}").initial_seed())  # dropout
    order = torch.randperm(len(batches), generator=stream(recipe.seed, f"order {epoch}")).tolist()
    subject.model.train(epoch < (recipe.dropout_epochs or recipe.epochs))
    total, seen = 0.0, 0
    with attending(subject.model, override=_rule(override, recipe.seed, epoch, "train"), watch=None):
        for done, number in enumerate(order):
            batch = batches[number]()
            loss = objective.loss(subject, batch)
            optimizer.zero_grad()
            loss.backward()
            if recipe.clip:
                nn.utils.clip_grad_norm_(subject.model.parameters(), recipe.clip)
            rate = recipe.learning_rate * _rate(recipe, epoch + (done + 1) / len(order), len(order))
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.step()
            total, seen = total + float(loss.detach()) * len(batch), seen + len(batch)
    subject.model.eval()
    return total / seen


def loss_of(subject: Subject, batch: Batch) -> Float[Tensor, ""]:
    """Mean cross-entropy of the labels; a translator, a model of series and a model with one sigmoid per class compute
    their own loss.
    """
    if "labels" in batch.inputs:
        return subject.model(**batch.inputs).loss
    labels = batch.labels.to(subject.device)
    if isinstance(subject.model, PlainModel) and subject.model.computes_loss:
        return subject.model(**batch.inputs, labels=labels[:, 0]).loss
    return F.cross_entropy(subject.logits(batch).flatten(0, 1), labels.flatten(), ignore_index=-1)


def _rate(recipe: Recipe, epochs: float, steps: int) -> float:
    """The learning rate as a share of its largest value, after `epochs` of so many steps each.

    `noam` (Vaswani et al. 2017, Eq. 3) goes up to the step `warm_up`, and then down with the root of the steps.
    """
    if recipe.schedule == "constant":
        return 1.0
    if recipe.schedule == "noam":
        share = epochs * steps / recipe.warm_up
        return min(share, share**-0.5)
    done = epochs / recipe.epochs
    return min(done / WARM_UP_SHARE, (1.0 - done) / (1.0 - WARM_UP_SHARE))


def in_batches(subject: Subject, train: Sequence[Example], recipe: Recipe) -> list[Callable[[], Batch]]:
    """The training texts in batches, the same in every epoch; kept in memory if they are not too many."""

    def encoded(numbers: list[int]) -> Batch:
        return subject.encode([train[number] for number in numbers], numbers)

    keep = cache if len(train) <= MAX_CACHED_TEXTS else lambda make: make
    numbers = by_length(train, recipe.batch_size, stream(recipe.seed, "batches"))
    return [keep(partial(encoded, some)) for some in numbers]


def by_length(examples: Sequence[Example], batch_size: int, generator: Generator) -> list[list[int]]:
    """All numbers in random batches of similar length: pools of random texts, each sorted and cut."""
    order = torch.randperm(len(examples), generator=generator).tolist()
    batches = []
    for start in range(0, len(order), POOL * batch_size):
        pool = sorted(order[start : start + POOL * batch_size], key=lambda number: len(examples[number].text))
        batches += [pool[i : i + batch_size] for i in range(0, len(pool), batch_size)]
    return batches


def _groups(model: nn.Module, recipe: Recipe) -> list[dict[str, Any]]:
    """Parameters with and without weight decay: Jain & Wallace exempt those that score the attention."""
    exempt = model.has_no_decay if isinstance(model, PlainModel) else scores_attention
    named = list(model.named_parameters())
    without = [parameter for name, parameter in named if exempt(name)]
    others = [parameter for name, parameter in named if not exempt(name)]
    return [{"params": others, "weight_decay": recipe.weight_decay}, {"params": without, "weight_decay": 0.0}]


def _rule(override: Callable[[Generator], Rules] | None, seed: int, epoch: int, when: str) -> Rules | None:
    return None if override is None else override(stream(seed, f"attention {when} {epoch}"))


def _write(path: Path, model: nn.Module, optimizer: Any, progress: Progress, kept: dict[str, Any]) -> None:
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "progress": vars(progress), "kept": kept}
    new = path.with_suffix(".new")
    try:
        torch.save(state, new)
        os.replace(new, path)  # atomic
    finally:
        new.unlink(missing_ok=True)


def _resume(path: Path, model: nn.Module, optimizer: Any) -> tuple[Progress, dict[str, Any]]:
    state = torch.load(path, weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return Progress(**state["progress"]), state["kept"]
