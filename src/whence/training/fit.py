"""Fitting a subject to examples: epochs, early stopping, checkpoints, and resuming after a kill.

Whatever is random in an epoch (the order of the texts, dropout, random attention) is drawn from streams that the seed
and the number of the epoch determine. So a run that was killed resumes after its last finished epoch with the
same result.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Generator, Tensor, nn
from tqdm.auto import tqdm

from whence.core.attending import attending
from whence.core.errors import BadData
from whence.core.seeds import stream
from whence.data.examples import Example
from whence.models.parts.encoders import PlainModel
from whence.subject.batch import Batch
from whence.subject.metrics import Rules, score
from whence.subject.subject import Subject
from whence.subject.threads import suited
from whence.training import health
from whence.training.batching import MakeBatch, batches_by_epoch, encoded_once
from whence.training.recipe import OPTIMIZERS, Recipe, parameter_groups, rate
from whence.training.renaming import Renaming


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
    gradients: list[dict[str, float]] = field(default_factory=list)  # norms of each part, in the first steps
    norms: list[dict[str, float]] = field(default_factory=list)  # of each part before the first epoch, after the last


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
    optimizer = OPTIMIZERS[recipe.optimizer](parameter_groups(model, recipe), lr=recipe.learning_rate)
    progress, kept = Progress(), {name: tensor.clone() for name, tensor in model.state_dict().items()}
    if checkpoint is not None and checkpoint.exists():
        progress, kept = _resume(checkpoint, model, optimizer)
    progress.norms = progress.norms or [health.norms(model)] * 2
    batches = batches_by_epoch(subject, train, recipe)
    renaming = Renaming(subject, recipe.interchangeable, recipe.rename_share) if recipe.interchangeable else None
    bar = tqdm(
        total=recipe.epochs, initial=progress.epoch, desc=f"training {subject.name}", unit="epoch", disable=quiet
    )
    with bar, torch.random.fork_rng(), suited(model), encoded_once(subject, dev):
        if each_epoch is not None and progress.epoch == 0:
            each_epoch(0, subject)
        while progress.epoch < recipe.epochs and progress.waited < recipe.patience:
            loss = _epoch(
                subject,
                renaming_batches(batches(progress.epoch), recipe, renaming, progress.epoch),
                recipe,
                optimizer,
                progress.epoch,
                override,
                objective,
                progress.gradients,
            )
            reached = objective.score(
                subject, dev, recipe.batch_size, _rule(override, recipe.seed, progress.epoch, "dev")
            )
            progress.losses.append(loss)
            progress.scores.append(reached)
            progress.norms = [progress.norms[0], health.norms(model)]
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
    batches: Sequence[MakeBatch],
    recipe: Recipe,
    optimizer: torch.optim.Optimizer,
    epoch: int,
    override: Callable[[Generator], Rules] | None,
    objective: Objective,
    gradients: list[dict[str, float]],
) -> float:
    """One pass over the training texts; the mean loss. The gradients of the very first steps go into `gradients`."""
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
            if epoch == 0 and done < health.STEPS:
                gradients.append(health.gradient_norms(subject.model))
            if recipe.clip:
                nn.utils.clip_grad_norm_(subject.model.parameters(), recipe.clip)
            share = rate(recipe, epoch + (done + 1) / len(order), len(order))
            for group in optimizer.param_groups:
                group["lr"] = recipe.learning_rate * share
            optimizer.step()
            total += float(loss.detach()) * len(batch)
            seen += len(batch)
    subject.model.eval()
    return total / seen


def renaming_batches(
    batches: Sequence[MakeBatch], recipe: Recipe, renaming: Renaming | None, epoch: int
) -> Sequence[MakeBatch]:
    """The batches of an epoch, with words renamed if it is time for that; the seed and the epoch determine how."""
    if renaming is None or epoch < recipe.rename_from:
        return batches
    generator = stream(recipe.seed, f"names {epoch}")
    return [partial(_renamed, renaming, make, generator) for make in batches]


def _renamed(renaming: Renaming, make: MakeBatch, generator: Generator) -> Batch:
    return renaming.renamed(make(), generator)


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
    state = torch.load(path, weights_only=True, map_location=next(model.parameters()).device)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return Progress(**state["progress"]), state["kept"]
