"""Running an experiment: a model and a corpus in, a cached result out; what is in the store is not run again."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from whence.core.errors import BadConfig
from whence.data.examples import Corpus
from whence.evaluation.checks import numbered_labels, refuse_examples, refuse_unsuited, refuse_unwritable
from whence.evaluation.chosen_examples import choose, read_corpus
from whence.evaluation.config import ExperimentConfig, TrainingExperimentConfig
from whence.evaluation.context import Context
from whence.evaluation.sharding import autocast, run_nth, table_of
from whence.evaluation.trained_models import TrainedModels
from whence.results.experiment import experiment
from whence.results.result import Result, make_manifest
from whence.results.shards import ShardFolder
from whence.results.store import Store
from whence.subject.subject import Subject, load
from whence.subject.threads import suited
from whence.training.config import Training
from whence.training.epoch_checkpoints import EachEpoch
from whence.training.record import retrainable

SCHEMA = 3  # of cache keys: raised when options are renamed or numbers change, so that old results are not mistaken


def run_experiment(
    name: str,
    config: ExperimentConfig | TrainingExperimentConfig,
    store: Store | None = None,
    *,
    subject: Subject | None = None,
    corpus: Corpus | None = None,
    quiet: bool = False,
) -> Result:
    """The result of an experiment: from the store if it has it, else run and put there.

    `name` is one of `whence list`, or `module:object` of an `Experiment` in a script.
    """
    result = _evaluated(name, config, store, subject, corpus, quiet)
    assert result is not None
    return result


def run_one_shard(
    name: str, config: ExperimentConfig, store: Store, shard: tuple[int, int], *, corpus: Corpus | None = None
) -> None:
    """Run one of so many shards of an experiment (its number, of how many) and keep its table in the store.

    `run_experiment` merges the shards that are there, and runs those that are not.
    """
    _evaluated(name, config, store, None, corpus, True, shard)


def _evaluated(
    name: str,
    config: ExperimentConfig | TrainingExperimentConfig,
    store: Store | None,
    subject: Subject | None,
    corpus: Corpus | None,
    quiet: bool,
    shard: tuple[int, int] | None = None,
) -> Result | None:
    """The result, or None if only one shard was wanted."""
    needs = experiment(name).needs
    corpus = corpus or read_corpus(config, whole=config.retrains or not needs.model)
    subject = subject or _given_subject(config)
    if subject is None and needs.model:
        raise BadConfig(f"{name} needs a model; give one (--model FOLDER)")
    if subject is not None:
        refuse_unsuited(subject, needs, name)
    key = cache_key(name, config, subject, corpus)
    saved = store.get(name, key) if store is not None else None
    if saved is not None:
        return with_notes_of(saved, corpus)
    training = _own_training(config, corpus) if needs.model else None
    split, numbers = choose(corpus, config)
    if subject is not None:
        refuse_examples(corpus, split, subject, needs, config.data, name)
    if store is not None:
        refuse_unwritable(store.root)
    kept = ShardFolder(store.root / "shards" / store.key(key)) if store is not None else None
    with _models_folder(store, needs.model) as folder:
        models = TrainedModels(
            corpus, split, numbers, folder, subject, config.seed, config.first_batch_size, quiet, name
        )
        given = subject if needs.model else None
        evaluated = models if given is None else models.context(given, training, needs.predictions)
        if shard is not None and kept is not None and isinstance(evaluated, Context):
            with suited(evaluated.subject.model), autocast(config.autocast, evaluated.subject):
                run_nth(experiment(name), config, evaluated, kept, shard)
            return None
        result = _run(name, config, models, evaluated, key, kept)
    if store is not None and kept is not None:
        store.put(result, key)
        kept.delete()
    return result


def cache_key(
    name: str, config: ExperimentConfig | TrainingExperimentConfig, subject: Subject | None, corpus: Corpus
) -> dict[str, Any]:
    """What identifies a result: the experiment, the options that change its numbers, the model and the corpus."""
    return {
        "schema": SCHEMA,
        "experiment": name,
        "config": config.cache_key(),
        "subject": None if subject is None else subject.fingerprint,
        "corpus": corpus.checksum,
        **experiment(name).cache_key(corpus),
    }


def each_epoch(name: str, config: ExperimentConfig, corpus: Corpus, found: dict[int, Result]) -> EachEpoch:
    """A callback for training (`train(..., each_epoch=...)`): the experiment on the model of every epoch.

    Its results are put into `found` by the number of finished epochs, 0 before the first.
    """

    def run(epoch: int, subject: Subject) -> None:
        found[epoch] = run_experiment(name, config, subject=subject, corpus=corpus, quiet=True)

    return run


def _run(
    name: str,
    config: ExperimentConfig | TrainingExperimentConfig,
    models: TrainedModels,
    evaluated: Context | TrainedModels,
    key: dict[str, Any],
    kept: ShardFolder | None,
) -> Result:
    """The experiment's table with its manifest; shard by shard where they can be kept."""
    wanted, corpus = experiment(name), models.corpus
    notes = [*corpus.notes, *(own_notes(evaluated) if isinstance(evaluated, Context) else ())]
    started = time.perf_counter()
    with suited(evaluated.subject.model) if isinstance(evaluated, Context) else nullcontext():
        if isinstance(evaluated, Context):
            table = table_of(wanted, config, evaluated, kept)
        else:
            table = wanted.run(config, evaluated)
    manifest = make_manifest(
        config=config.model_dump(mode="json"),
        seed=config.seed,
        columns=wanted.columns,
        corpus={
            "name": corpus.name,
            "split": models.split,
            "n": len(models.numbers),
            "checksum": key["corpus"],
            "notes": list(corpus.notes),
        },
        subject={"fingerprint": key["subject"], **_described(models.subject)},
        seconds=round(time.perf_counter() - started, 2),
        notes=list(dict.fromkeys(notes)),
    )
    return Result(name, table, {"cache_key": key, **manifest})


def with_notes_of(saved: Result, corpus: Corpus) -> Result:
    """A saved result with notes on how its corpus was read now, in place of those on how it was read then."""
    before = saved.manifest["corpus"].get("notes", [])
    own = [note for note in saved.manifest["notes"] if note not in before]
    return Result(saved.experiment, saved.table, {**saved.manifest, "notes": [*corpus.notes, *own]})


def own_notes(context: Context) -> list[str]:
    """Notes on how the model reads the examples: labels by number, texts that are cut."""
    labels = numbered_labels(context.examples, context.subject) if context.predictions else []
    return [*labels, *cut_texts(context)]


def cut_texts(context: Context) -> list[str]:
    """A note on the texts that are longer than the model's input, if there are any."""
    cut = sum(int(batch.truncated.sum()) for batch in context.batches())
    if not cut:
        return []
    limit = context.subject.encoder.limit
    return [f"{cut} of {len(context.examples)} texts were longer than {limit} and were cut there"]


def _described(subject: Subject | None) -> dict[str, Any]:
    if subject is None:
        return {}
    counted = {"sites": len(subject.sites), "labels": list(subject.labels)}
    return {"name": subject.name, "task": subject.task.name, **counted}


def _given_subject(config: ExperimentConfig | TrainingExperimentConfig) -> Subject | None:
    if config.model is None:
        return None
    return load(
        config.model,
        config.task,
        device=config.device,
        dtype=config.dtype,
        trust_remote_code=config.trust_remote_code,
    )


def _own_training(config: ExperimentConfig | TrainingExperimentConfig, corpus: Corpus) -> Training | None:
    """How the given model was trained, if Whence trained it on this corpus; refused where it must be retrained."""
    training, why_not = retrainable(Path(str(config.model)), corpus)
    if config.retrains and why_not:
        raise BadConfig(f"{config.model} cannot be retrained: {why_not}; leave retrain at 0")
    return training


@contextmanager
def _models_folder(store: Store | None, has_model: bool) -> Iterator[Path | None]:
    """Where trained models are kept; without a store a temporary folder for an experiment that trains its own."""
    if store is not None:
        yield store.root / "models"
    elif has_model:
        yield None
    else:
        with TemporaryDirectory() as folder:
            yield Path(folder)
