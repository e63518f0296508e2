"""A context with another model: retrained, from other seeds, after fewer epochs, or untrained."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from whence.core.errors import BadConfig
from whence.core.seeds import stream
from whence.data.examples import Corpus
from whence.evaluation.context import Context
from whence.subject.subject import Subject, load
from whence.training import init
from whence.training.config import Training
from whence.training.epoch_checkpoints import kept_epochs
from whence.training.train import sample, train, train_all


def from_seeds(
    context: Context, seeds: int, overrides: Sequence[str] = (), sites: tuple[str, ...] = ("*",)
) -> Iterator[tuple[int, Context]]:
    """The context as it is (seed -1), or one with a model trained from each of so many seeds.

    The models that are trained with overridden attention are trained along with them, several at a time.
    """
    if not seeds:
        yield -1, context
        return
    train_ahead(context, [_overridden(seed, how, sites) for seed in range(seeds) for how in ("none", *overrides)])
    for seed in range(seeds):
        yield seed, retrained(context, seed, "none")


def retrained(context: Context, seed: int, override: str, sites: tuple[str, ...] = ("*",)) -> Context:
    """The context with a model retrained from another seed, perhaps with overridden attention."""
    return trained_with(context, _overridden(seed, override, sites))


def seed_replicas(context: Context, count: int) -> Iterator[tuple[int, Context]]:
    """So many contexts with a model of the same training from another seed."""
    if count == 0:
        return
    own = -1 if context.training is None else context.training.seed
    seeds = [seed for seed in range(count + 1) if seed != own][:count]
    train_ahead(context, [_overridden(seed, "none", ("*",)) for seed in seeds])
    for seed in seeds:
        yield seed, retrained(context, seed, "none")


def train_ahead(context: Context, changes: Sequence[Mapping[str, Any]]) -> None:
    """Train the models that `trained_with` will return, several at a time."""
    train_all([_changed(context, one) for one in changes if not _is_own(context, one)], quiet=context.quiet)


def trained_with(context: Context, changes: Mapping[str, Any]) -> Context:
    """The context with a model that is trained like its own, except for some options."""
    if _is_own(context, changes):
        return context
    training, folder, corpus = _changed(context, changes)
    return replace(context, subject=train(training, folder, corpus=corpus, quiet=context.quiet), training=training)


def epoch_models(context: Context, folder: Path) -> Iterator[tuple[int, Context]]:
    """The context with the model of each epoch that training kept (`keep_epochs`)."""
    places = kept_epochs(folder)
    if not places:
        raise BadConfig(f"{folder} keeps no models of single epochs; train it with --keep-epochs")
    dtype, device = str(context.subject.model.dtype).removeprefix("torch."), str(context.subject.device)
    for epoch, place in places.items():
        yield epoch, replace(context, subject=load(place, device=device, dtype=dtype), training=None)


def untrained(context: Context) -> Context:
    """The context with an untrained model of the same kind.

    A reference model that Whence trained is as before its first epoch, with its initial word vectors. Of any other
    model all weights are re-initialised by the context's seed, word vectors included.
    """
    training, corpus = context.training, context.corpus
    if training is None or corpus is None or training.reference is None:
        return replace(context, subject=with_random_weights(context.subject, context.seed), training=None)
    learned = tuple(sample(corpus["train"], training.limit))
    subject = init.untrained(training, replace(corpus, splits={**corpus.splits, "train": learned}))
    subject.model.to(context.subject.device, context.subject.model.dtype)
    return replace(context, subject=subject, training=None)


def with_random_weights(subject: Subject, seed: int) -> Subject:
    """A model of the same kind and size with other weights."""
    with torch.random.fork_rng():
        torch.manual_seed(stream(seed, "untrained").initial_seed())
        model: Any = type(subject.model)(deepcopy(subject.model.config))
    model.to(subject.device, subject.model.dtype)
    return Subject(model, subject.tokenizer, subject.task.name, f"{subject.name}, untrained")


def _is_own(context: Context, changes: Mapping[str, Any]) -> bool:
    """Whether the context's own model is the one wanted; never, if it is not known how it was trained."""
    return context.training is not None and context.training == context.training.with_options(changes)


def _changed(context: Context, changes: Mapping[str, Any]) -> tuple[Training, Path, Corpus]:
    if context.training is None or context.corpus is None or context.models_folder is None:
        raise BadConfig(
            f"{context.subject.name} cannot be retrained: that needs a model made by `whence train`, its corpus"
            " with the splits train and dev, and a folder for results; or leave retrain at 0"
        )
    training = context.training.with_options({**changes, "device": str(context.subject.device)})
    return training, context.models_folder / training.folder_name(context.corpus), context.corpus


def _overridden(seed: int, override: str, sites: tuple[str, ...]) -> dict[str, Any]:
    """The options of a training from another seed, with attention overridden at some sites or not."""
    return {"seed": seed, "override": override, "override_sites": ("*",) if override == "none" else sites}
