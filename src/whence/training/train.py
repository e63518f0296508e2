"""Training a reference model on a corpus: `whence train additive --data sst`; and many side by side, one process each.

What is finished already is not trained again.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers
from joblib import Parallel, delayed
from torch import Generator
from tqdm.auto import tqdm

from whence.core.attending import Rule
from whence.core.errors import BadConfig, BadData
from whence.core.overrides import random, uniform
from whence.core.seeds import stream
from whence.data.examples import Corpus, Example
from whence.data.registry import load as load_corpus
from whence.results.atomic_write import saving, write_json
from whence.subject.subject import Subject, load
from whence.training.adversarial import Opponent
from whence.training.config import Training
from whence.training.epoch_checkpoints import EachEpoch, all_of, keeping
from whence.training.fit import Lesson, fit
from whence.training.guided import Guided
from whence.training.init import learnable, untrained
from whence.training.record import RECORD, refuse_other

ALTERED: dict[str, Callable[[Generator], Rule]] = {"uniform": lambda _: uniform, "random": random}


def train(
    training: Training,
    folder: Path,
    *,
    corpus: Corpus | None = None,
    each_epoch: EachEpoch | None = None,
    quiet: bool = False,
) -> Subject:
    """A trained subject, saved in `folder` with `save_pretrained`; taken from there if it is finished already.

    A run that was cut off goes on from its last finished epoch. `each_epoch` is called as `fit` calls it, for epochs
    that are trained now; what is to be asked of every epoch later needs `keep_epochs`.
    """
    corpus = corpus or load_corpus(training.data, data_dir=training.data_dir, columns=training.columns)
    identity = training.identity(corpus)
    if (folder / RECORD).exists():
        refuse_other(folder, identity)
        return led(load(folder), training)
    with saving(folder):
        return _trained(training, folder, corpus, identity, each_epoch, quiet)


def _trained(
    training: Training,
    folder: Path,
    corpus: Corpus,
    identity: dict[str, Any],
    each_epoch: EachEpoch | None,
    quiet: bool,
) -> Subject:
    started_at = time.perf_counter()
    if not {"train", "dev"} <= set(corpus.splits):
        raise BadData(
            f"{corpus.name} has the splits {', '.join(corpus.splits)}; training needs train and dev. Give the table a"
            " column `split` that says train, dev or test in each row"
        )
    train = drawn(corpus["train"], training.limit)
    dev = drawn(learnable(corpus, training.chosen_on), training.limit and training.limit // 4)
    subject, lesson = begun(training, replace(corpus, splits={**corpus.splits, "train": tuple(train)}))
    folder.mkdir(parents=True, exist_ok=True)
    started = folder / "training.started.json"
    if started.exists():
        refuse_other(folder, identity, started.name)
    else:
        write_json(started, {"identity": identity})
    progress = fit(
        subject, train, dev, training.recipe, checkpoint=folder / "checkpoint.pt", quiet=quiet,
        override=None if training.altered == "none" else partial(_alteration, training),
        each_epoch=all_of(keeping(folder) if training.keep_epochs else None, each_epoch), lesson=lesson,
    )  # fmt: skip
    subject.model.save_pretrained(folder)
    subject.tokenizer.save_pretrained(folder)
    vectors = training.vectors and training.vectors.resolve()  # to be found from any folder
    options = training.model_copy(update={"vectors": vectors}).model_dump(mode="json")
    record = {"identity": identity, "training": options, "dev": progress.scores,
              "losses": progress.losses, "best": progress.best if progress.scores else None,
              "seconds": round(time.perf_counter() - started_at, 2), "notes": list(corpus.notes)}  # fmt: skip
    write_json(folder / RECORD, record)
    for leftover in (started, folder / "checkpoint.pt", folder / "checkpoint.new"):
        leftover.unlink(missing_ok=True)
    subject.name = str(folder)
    return subject


def begun(training: Training, corpus: Corpus) -> tuple[Subject, Lesson]:
    """The model before its first epoch, and what it will be taught: right answers as a rule, with its attention given
    from outside if it is guided; another model's answers if it opposes that.
    """
    if training.opposing is not None:
        base, from_base = (known(training.opposing.base, training.opposing.fingerprint) for _ in range(2))
        subject = from_base if training.opposing.start == "base" else untrained(training, corpus)
        return subject, Opponent(base, training.opposing)
    return led(untrained(training, corpus), training), Lesson()


def led(subject: Subject, training: Training) -> Subject:
    """The subject as it attends: as a guide tells it, if it was trained so."""
    if training.guiding is None:
        return subject
    guide = known(training.guiding.base, training.guiding.fingerprint)
    return Guided(subject, guide, training.guiding.source, training.seed)


def known(folder: str, fingerprint: str) -> Subject:
    """The model in a folder, if it is the one that is meant."""
    subject = load(folder)
    if subject.fingerprint != fingerprint:
        raise BadConfig(f"{folder} holds another model than when it was named; run the experiment on it again")
    return subject


def altered_as(training: Training) -> Mapping[str, Rule] | None:
    """The rules that a model was trained with, to look at it as it was trained."""
    return None if training.altered == "none" else _alteration(training, stream(training.seed, "attention after"))


def _alteration(training: Training, generator: Generator) -> Mapping[str, Rule]:
    rule = ALTERED[training.altered](generator)
    return dict.fromkeys(training.altered_sites, rule)


def drawn(examples: Sequence[Example], limit: int | None) -> Sequence[Example]:
    """So many of the examples at most, drawn by chance, but always the same."""
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
    tasks = (delayed(_train_alone)(*one) for one in missing)
    finished = Parallel(n_jobs=workers, backend="loky", return_as="generator_unordered")(tasks)
    for _ in tqdm(finished, total=len(missing), desc="training", unit="model", disable=quiet):
        pass


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _train_alone(training: Training, folder: Path, corpus: Corpus) -> None:
    """In a process of its own, on one thread: the others have the other processors."""
    torch.set_num_threads(1)
    transformers.logging.disable_progress_bar()
    train(training, folder, corpus=corpus, quiet=True)
