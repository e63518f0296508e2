"""Experiments that train the models they look at: a corpus in, a bench for each model, a result on disk out."""

import time
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from whence.data.examples import Corpus
from whence.evaluation.bench import Bench
from whence.evaluation.runner import choose, refuse_unknown, refuse_unwritable
from whence.options import checked
from whence.results.result import Result, manifest_now
from whence.results.store import Store
from whence.subject.subject import Subject
from whence.training.config import Training
from whence.training.train import train, train_all

Name = TypeVar("Name")


@dataclass(frozen=True, eq=False)
class Benches:
    """A corpus, the numbers of the examples of one split that are looked at, and a folder where models are kept."""

    corpus: Corpus
    split: str
    chosen: list[int]
    workshop: Path
    subject: Subject | None = None  # one that came trained, to be looked at too
    seed: int = 0
    batch_size: int = 32
    quiet: bool = False
    name: str = ""

    def trained(self, wanted: Mapping[Name, Mapping[str, Any]]) -> Iterator[tuple[Name, Bench]]:
        """A bench for each model that is wanted, by its name; all are trained first, several at a time.

        What is finished already is not trained again, and what was cut off goes on from its last epoch.
        """
        trainings = {name: checked(Training, {**options, "data": self.corpus.name}) for name, options in wanted.items()}
        folders = {name: self.workshop / training.called(self.corpus) for name, training in trainings.items()}
        train_all([(trainings[name], folders[name], self.corpus) for name in trainings], quiet=self.quiet)
        for name, training in trainings.items():
            yield name, self.of(train(training, folders[name], corpus=self.corpus, quiet=self.quiet), training)

    def of(self, subject: Subject, training: Training | None = None) -> Bench:
        """The bench of one model."""
        examples = [self.corpus[self.split][number] for number in self.chosen]
        return Bench(
            subject, examples, self.chosen, self.seed, self.batch_size, self.quiet, training, self.corpus,
            self.workshop, self.name,
        )  # fmt: skip


def perform_alone(
    name: str, module: Any, config: Any, store: Store | None, subject: Subject | None, corpus: Corpus, quiet: bool
) -> Result:
    """The result of an experiment that trains its models: from the store if it has it, else run and put there.

    Without a store the models go when it is done.
    """
    known = {"fingerprint": None if subject is None else subject.fingerprint}
    identity = {"experiment": name, "config": config.identity(), "subject": known["fingerprint"],
                "corpus": corpus.checksum}  # fmt: skip
    saved = store.get(name, identity) if store is not None else None
    if saved is not None:
        return saved
    split, chosen = choose(corpus, config)
    if subject is not None:
        refuse_unknown(corpus[split], subject)
    if store is not None:
        refuse_unwritable(store.root)
    started = time.perf_counter()
    with TemporaryDirectory() if store is None else nullcontext(store.root / "models") as folder:
        benches = Benches(
            corpus, split, chosen, Path(folder), subject, config.seed, config.batch_size, quiet, name
        )  # fmt: skip
        table = module.run(config, benches)
    manifest = manifest_now(
        config=config.model_dump(mode="json"), seed=config.seed, columns=module.columns,
        corpus={"name": corpus.name, "split": split, "n": len(chosen), "checksum": corpus.checksum},
        subject=known if subject is None else {**known, "name": subject.name, "task": subject.task.name},
        seconds=round(time.perf_counter() - started, 2), notes=corpus.notes,
    )  # fmt: skip
    result = Result(name, table, {**manifest, "identity": identity})
    if store is not None:
        store.put(result, identity)
    return result
