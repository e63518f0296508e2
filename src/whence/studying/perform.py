"""Performing one task of a study, in whatever process an engine gives it."""

import time
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import transformers

from whence.data.examples import Corpus
from whence.data.formats.text import file_exists
from whence.data.registry import load as load_corpus
from whence.data.tables.columns import Columns
from whence.data.tables.sampled import is_large
from whence.engine.claims import claimed
from whence.evaluation.chosen_examples import read_corpus
from whence.evaluation.config import CorpusOptions
from whence.evaluation.runner import run_experiment, run_one_shard
from whence.options import checked
from whence.results.experiment import experiment
from whence.studying.records import Record, Records
from whence.studying.tasks import Task, checksum
from whence.training.config import Training
from whence.training.train import train

KEPT = 4  # corpora that a worker keeps in memory


def run_task(task: Mapping[str, Any], root: str) -> Record:
    """The record of a task: made now, unless it is there. Raises `Busy` if another worker is making it."""
    one, records = Task(**task), Records(root)
    done = records.done(one.key)
    if done is not None:
        return done
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    with claimed(records.claim(one.key)):
        done = records.done(one.key)
        return _compute(one, records) if done is None else done


def _compute(task: Task, records: Records) -> Record:
    records.note(task.key, "began")
    began, cpu_began = time.perf_counter(), time.process_time()
    result = _train(task, records) if task.kind == "train" else _run(task, records)
    record = {
        "task": {"key": task.key, "kind": task.kind, "name": task.name, "experiment": task.experiment, **task.about},
        "result": str(result.relative_to(records.root)),
        "seconds": round(time.perf_counter() - began, 3),
        "cpu_seconds": round(time.process_time() - cpu_began, 3),
    }
    records.write_done(task.key, record)
    records.note(task.key, "ended")
    return record


def _train(task: Task, records: Records) -> Path:
    training = checked(Training, dict(task.options))
    corpus = _kept_corpus(training.data, training.data_dir, training.columns)
    folder = records.root / "models" / training.folder_name(corpus)
    train(training, folder, corpus=corpus, quiet=True)
    return folder


def _run(task: Task, records: Records) -> Path:
    options = dict(task.options)
    trained = [done for key in task.needs if (done := records.done(key)) and done["task"]["kind"] == "train"]
    if trained:
        options["model"] = str(records.root / trained[0]["result"])
    config = checked(experiment(task.experiment).config, options)
    corpus = _corpus_of(config, config.retrains or not experiment(task.experiment).needs.model)
    if task.shard is not None:
        run_one_shard(task.experiment, config, records.store, (task.shard[0], task.shard[1]), corpus=corpus)
        return records.root
    result = run_experiment(task.experiment, config, records.store, corpus=corpus, quiet=True)
    return records.store.folder(task.experiment, result.manifest["cache_key"])


def _corpus_of(config: CorpusOptions, whole: bool) -> Corpus:
    """The corpus of a run. One that is read whole is kept for the next task; of a large table a sample is read."""
    sampled = config.limit is not None and file_exists(config.data) and is_large(Path(config.data))
    if sampled and not whole:
        return read_corpus(config)
    return _kept_corpus(config.data, config.data_dir, config.columns)


def _kept_corpus(data: str, data_dir: Path | None, columns: Columns) -> Corpus:
    return _read(data, data_dir, columns, checksum(data, data_dir))


@lru_cache(maxsize=KEPT)
def _read(data: str, data_dir: Path | None, columns: Columns, content: str) -> Corpus:
    return load_corpus(data, data_dir=data_dir, columns=columns)
