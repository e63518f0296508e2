"""Running an experiment: a model and examples in, a result on disk out; what is there already is not run again."""

import errno
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from whence.core.errors import BadConfig, BadData
from whence.core.seeds import stream
from whence.data.examples import Corpus, Example
from whence.data.registry import load as load_corpus
from whence.data.tables.reader import DEV
from whence.evaluation.bench import Bench
from whence.evaluation.config import Looking, Run, Taught
from whence.results.atomic_write import saving
from whence.results.experiment import experiment
from whence.results.result import Result, manifest_now
from whence.results.store import Store
from whence.subject.subject import Subject, load, refuse_silent
from whence.subject.threads import suited
from whence.training.epoch_checkpoints import EachEpoch
from whence.training.record import retrainable


def perform(
    name: str,
    config: Run | Taught,
    store: Store | None = None,
    *,
    subject: Subject | None = None,
    corpus: Corpus | None = None,
    quiet: bool = False,
) -> Result:
    """The result of an experiment: from the store if it has it, else run and put there."""
    module = experiment(name)
    corpus = corpus or load_corpus(config.data, data_dir=config.data_dir, columns=config.columns)
    alone = not module.needs.model
    if subject is None and config.model is not None:
        subject = load(
            config.model, config.task, device=config.device, dtype=config.dtype,
            trust_remote_code=config.trust_remote_code,
        )  # fmt: skip
    if alone or subject is None or config.model is None:
        from whence.evaluation.trained_models import perform_alone  # which needs what is here

        return perform_alone(name, module, config, store, subject, corpus, quiet)
    asked = module.needs.predictions
    if asked:
        refuse_silent(subject, name)
    if module.needs.classes:
        refuse_values(subject, name)
    identity = identified(name, config, subject, corpus)
    saved = store.get(name, identity) if store is not None else None
    if saved is not None:
        return saved
    training, why_not = retrainable(Path(config.model), corpus)
    if getattr(config, "retrain", 0) and why_not:
        raise BadConfig(f"{config.model} cannot be trained again: {why_not}; leave retrain at 0")
    split, chosen = choose(corpus, config)
    examples = [corpus[split][number] for number in chosen]
    if asked:
        refuse_unknown(corpus[split], subject)
    if module.needs.labels:
        refuse_unmarked(corpus[split], subject, config.data, name)
    if store is not None:
        refuse_unwritable(store.root)
    bench = Bench(
        subject, examples, chosen, config.seed, config.batch_size, quiet, training, corpus,
        store.root / "models" if store is not None else None, name, answered=asked,
    )  # fmt: skip
    notes = [*corpus.notes, *said_of_length(bench)]
    started = time.perf_counter()
    with suited(subject.model):
        table = module.run(config, bench)
    manifest = manifest_now(
        config=config.model_dump(mode="json"), seed=config.seed, columns=module.columns,
        corpus={"name": corpus.name, "split": split, "n": len(examples), "checksum": corpus.checksum},
        subject={"name": subject.name, "task": subject.task.name, "fingerprint": identity["subject"],
                 "sites": len(subject.sites), "labels": list(subject.labels)},
        seconds=round(time.perf_counter() - started, 2), notes=notes,
    )  # fmt: skip
    result = Result(name, table, {**manifest, "identity": identity})
    if store is not None:
        store.put(result, identity)
    return result


def along(name: str, config: Run, corpus: Corpus, found: dict[int, Result]) -> EachEpoch:
    """A callback for training (`train(..., each_epoch=along(...))`): the experiment on the model of every epoch.

    Its results are put into `found` by the number of epochs that were done, 0 before the first.
    """

    def each(epoch: int, subject: Subject) -> None:
        found[epoch] = perform(name, config, subject=subject, corpus=corpus, quiet=True)

    return each


def identified(name: str, config: Run | Taught, subject: Subject, corpus: Corpus) -> dict[str, Any]:
    """What a result is known by: the experiment, the options that change its numbers, the model and the corpus."""
    return {"experiment": name, "config": config.identity(), "subject": subject.fingerprint, "corpus": corpus.checksum,
            **experiment(name).cache_key(corpus)}  # fmt: skip


def split_of(corpus: Corpus, config: Looking) -> str:
    """The split that is named, else the test split, else dev, else the only one: never by chance what was learned."""
    there = list(corpus.splits)
    if config.split in DEV and config.split not in there and "dev" in there:
        return "dev"
    usual = [name for name in ("test", "dev") if name in there] or (there if len(there) == 1 else [])
    if config.split is None and not usual:
        raise BadData(f"{corpus.name} has the splits {', '.join(there)}, and none is called test; name one (--split)")
    return config.split or usual[0]


def choose(corpus: Corpus, config: Run | Taught) -> tuple[str, list[int]]:
    """The split to look at and the numbers of its examples, at most `limit` of them, drawn by the seed."""
    split = split_of(corpus, config)
    n = len(corpus[split])
    if n == 0:
        raise BadData(f"the split {split!r} of {corpus.name} is empty; expected examples")
    if config.limit is None or config.limit >= n:
        return split, list(range(n))
    drawn = torch.randperm(n, generator=stream(config.seed, "examples"))[: config.limit]
    return split, sorted(drawn.tolist())


def refuse_values(subject: Subject, asking: str) -> None:
    """What compares distributions over classes, or counts right ones, has nothing to say of values."""
    if subject.task.valued:
        raise BadConfig(
            f"{subject.name} answers with values, not classes ({subject.task.about}); {asking} needs classes. How it"
            " attends can be seen with `explain`: lat, lat_mixed, rollout, raw_attention"
        )


def refuse_unknown(examples: Sequence[Example], subject: Subject) -> None:
    """Every label or tag must be one that the model knows, also of examples that are not drawn."""
    needs = subject.task.needs
    if needs in ("label", "tags"):
        given = [example.label and (example.label,) if needs == "label" else example.tags for example in examples]
        for label in dict.fromkeys(label for labels in given for label in labels or ()):
            subject.encoder.label_id(label)


def refuse_unmarked(examples: Sequence[Example], subject: Subject, data: str, name: str) -> None:
    """Accuracy needs right answers, and of more than one kind."""
    needs = subject.task.needs
    if any(getattr(example, needs) is None for example in examples):
        raise BadData(
            f"{data} has examples without {needs}, the right answer of a model for {subject.task.name}, and {name}"
            f" needs it; name the column (--columns.{needs} NAME), or take another model. `permutation` needs none"
        )
    if needs == "label" and len({example.label for example in examples}) < 2:
        raise BadData(
            f"{data} has one class only ({examples[0].label}); expected at least two. Look at another split"
            " (--split NAME), or name another label column (--columns.label NAME)"
        )


def refuse_unwritable(folder: Path) -> None:
    """Better before the experiment than after it."""
    with saving(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def said_of_length(bench: Bench) -> list[str]:
    """What was cut because it was too long for the model."""
    cut = sum(int(batch.truncated.sum()) for batch in bench.batches())
    if not cut:
        return []
    limit = bench.subject.encoder.limit
    return [f"{cut} of {len(bench.examples)} texts were longer than {limit} and were cut there"]


def figure_and_verdict(result: Result) -> tuple[Any, Any]:
    """The picture and the answer that a saved table gives."""
    module = experiment(result.experiment)
    return module.figure(result.table), module.verdict(result.table)
