"""Training a reference model on a corpus: `whence train additive --data sst`; and many in parallel, one process each.

What is finished already is not retrained.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Generator

from whence.core.attending import Rule
from whence.core.errors import BadConfig, BadData
from whence.core.overrides import random, uniform
from whence.core.seeds import stream
from whence.data.examples import Corpus, Example
from whence.data.registry import load as load_corpus
from whence.engine.call import Call
from whence.engine.claims import claimed_when_free
from whence.engine.engines import processors
from whence.engine.local import LocalEngine
from whence.engine.run_all import run_all
from whence.results.atomic_write import saving, write_json
from whence.subject.devices import device_named
from whence.subject.subject import Subject, load
from whence.training.adversarial import AdversarialObjective
from whence.training.config import Training
from whence.training.epoch_checkpoints import EachEpoch, call_all, save_epochs
from whence.training.fit import Objective, Progress, fit
from whence.training.guided import Guided
from whence.training.health import Health, better_than_chance, chance_score
from whence.training.init import learnable, untrained
from whence.training.record import RECORD, refuse_other

OVERRIDES: dict[str, Callable[[Generator], Rule]] = {"uniform": lambda _: uniform, "random": random}


def train(
    training: Training,
    folder: Path,
    *,
    corpus: Corpus | None = None,
    each_epoch: EachEpoch | None = None,
    quiet: bool = False,
) -> Subject:
    """A trained subject, saved in `folder` with `save_pretrained`; taken from there if it is finished already.

    A run that was cut off resumes after its last finished epoch. `each_epoch` is called as `fit` calls it, for epochs
    that are trained now; to evaluate every epoch later, use `keep_epochs`.
    """
    corpus = corpus or load_corpus(training.data, data_dir=training.data_dir, columns=training.columns)
    key = training.cache_key(corpus)
    if (folder / RECORD).exists():
        refuse_other(folder, key)
        return guided(load(folder, device=training.device), training)
    with saving(folder), claimed_when_free(folder.parent / f".{folder.name}.claim"):
        if (folder / RECORD).exists():  # another process has finished it meanwhile
            return guided(load(folder, device=training.device), training)
        return _train(training, folder, corpus, key, each_epoch, quiet)


def _train(
    training: Training,
    folder: Path,
    corpus: Corpus,
    key: dict[str, Any],
    each_epoch: EachEpoch | None,
    quiet: bool,
) -> Subject:
    started_at = time.perf_counter()
    if not {"train", "dev"} <= set(corpus.splits):
        raise BadData(
            f"{corpus.name} has the splits {', '.join(corpus.splits)}; training needs train and dev. Give the table a"
            " column `split` that says train, dev or test in each row"
        )
    train = sample(corpus["train"], training.limit)
    dev = sample(learnable(corpus, training.select_on), training.limit and training.limit // 4)
    subject, objective = start(training, replace(corpus, splits={**corpus.splits, "train": tuple(train)}))
    subject.model.to(device_named(training.device))
    folder.mkdir(parents=True, exist_ok=True)
    started = folder / "training.started.json"
    if started.exists():
        refuse_other(folder, key, started.name)
    else:
        write_json(started, {"cache_key": key})
    progress = fit(
        subject,
        train,
        dev,
        training.recipe,
        checkpoint=folder / "checkpoint.pt",
        override=None if training.override == "none" else partial(_override, training),
        each_epoch=call_all(save_epochs(folder) if training.keep_epochs else None, each_epoch),
        objective=objective,
        quiet=quiet,
    )
    subject.model.save_pretrained(folder)
    subject.tokenizer.save_pretrained(folder)
    vectors = training.vectors and training.vectors.resolve()  # valid from any working folder
    record = {
        "cache_key": key,
        "training": training.model_copy(update={"vectors": vectors}).to_json(),
        "dev": progress.scores,
        "losses": progress.losses,
        "best": progress.best if progress.scores else None,
        "health": health_of(subject, dev, progress, objective).to_json(),
        "seconds": round(time.perf_counter() - started_at, 2),
        "notes": list(corpus.notes),
    }
    write_json(folder / RECORD, record)
    for leftover in (started, folder / "checkpoint.pt", folder / "checkpoint.new"):
        leftover.unlink(missing_ok=True)
    subject.name = str(folder)
    return subject


def health_of(subject: Subject, dev: Sequence[Example], progress: Progress, objective: Objective) -> Health:
    """What was seen in a training. Whether an adversary or an untrained model has learned its labels is not asked."""
    steps, (before, after) = progress.gradients, progress.norms
    chance = chance_score(subject, dev) if progress.scores and type(objective) is Objective else None
    return Health(
        gradients={part: sum(step[part] for step in steps) / len(steps) for part in (steps[0] if steps else ())},
        norms={part: (before[part], after[part]) for part in before},
        chance=chance,
        learned=better_than_chance(progress.best, chance, len(dev)),
    )


def start(training: Training, corpus: Corpus) -> tuple[Subject, Objective]:
    """The model before its first epoch, and its objective: the labels, unless it is trained as an adversary."""
    adversarial = training.adversarial
    if adversarial is not None:
        base, from_base = (load_exactly(adversarial.base, adversarial.fingerprint) for _ in range(2))
        subject = from_base if adversarial.start == "base" else untrained(training, corpus)
        return subject, AdversarialObjective(base, adversarial)
    return guided(untrained(training, corpus), training), Objective()


def guided(subject: Subject, training: Training) -> Subject:
    """The subject with the attention of its guide imposed, if it was trained with one."""
    if training.guided_by is None:
        return subject
    guide = load_exactly(training.guided_by.base, training.guided_by.fingerprint)
    return Guided(subject, guide, training.guided_by.source, training.seed)


def load_exactly(folder: str, fingerprint: str) -> Subject:
    """The model in a folder, if it has this fingerprint."""
    subject = load(folder)
    if subject.fingerprint != fingerprint:
        raise BadConfig(f"{folder} holds another model than when it was named; run the experiment on it again")
    return subject


def trained_override(training: Training) -> Mapping[str, Rule] | None:
    """The override that a model was trained with, to evaluate it as it was trained."""
    return None if training.override == "none" else _override(training, stream(training.seed, "attention after"))


def _override(training: Training, generator: Generator) -> Mapping[str, Rule]:
    rule = OVERRIDES[training.override](generator)
    return dict.fromkeys(training.override_sites, rule)


def sample(examples: Sequence[Example], limit: int | None) -> Sequence[Example]:
    """At most `limit` of the examples, sampled, but always the same."""
    if limit is None or limit >= len(examples):
        return examples
    numbers = torch.randperm(len(examples), generator=stream(0, "limit"))[:limit]
    return [examples[number] for number in sorted(numbers.tolist())]


def train_all(wanted: Sequence[tuple[Training, Path, Corpus]], *, quiet: bool = False) -> None:
    """Train each into its folder, as many at a time as there are processors."""
    missing = [one for one in wanted if not (one[1] / RECORD).exists()]
    workers = min(len(missing), processors())
    if workers < 2:
        for training, folder, corpus in missing:
            train(training, folder, corpus=corpus, quiet=quiet)
        return
    calls = [
        Call(str(folder), f"{__name__}:train_alone", {"training": training, "folder": folder, "corpus": corpus})
        for training, folder, corpus in missing
    ]
    run_all(calls, LocalEngine(workers), "training", "model", quiet)


def train_alone(training: Training, folder: Path, corpus: Corpus) -> None:
    """In a worker process, on its one thread."""
    transformers.logging.disable_progress_bar()
    train(training, folder, corpus=corpus, quiet=True)
