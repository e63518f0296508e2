"""What an experiment that trains its own models works on: a corpus, and a context for each model it trains."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from whence.core.errors import BadConfig
from whence.data.examples import Corpus
from whence.evaluation.context import Context
from whence.options import checked
from whence.subject.subject import Subject
from whence.training.config import Training
from whence.training.train import train, train_all

Name = TypeVar("Name")


@dataclass(frozen=True, eq=False)
class TrainedModels:
    """A corpus, the numbers of the examples of one split to evaluate on, and a folder that keeps the models."""

    corpus: Corpus
    split: str
    numbers: list[int]
    models_folder: Path | None
    subject: Subject | None = None  # a model that the user gives, to be evaluated too
    seed: int = 0
    batch_size: int = 32
    quiet: bool = False
    name: str = ""

    def trained(self, wanted: Mapping[Name, Mapping[str, Any]]) -> Iterator[tuple[Name, Context]]:
        """A context for each model that is wanted, by its name; all are trained first, several at a time.

        A finished model is loaded, and an interrupted training resumes after its last epoch.
        """
        trainings = {name: checked(Training, {**options, "data": self.corpus.name}) for name, options in wanted.items()}
        if self.models_folder is None:
            raise BadConfig(
                f"{self.name} trains models, and that needs a folder for them; give one for results (--out)"
            )
        folders = {name: self.models_folder / training.folder_name(self.corpus) for name, training in trainings.items()}
        train_all([(trainings[name], folders[name], self.corpus) for name in trainings], quiet=self.quiet)
        for name, training in trainings.items():
            yield name, self.context(train(training, folders[name], corpus=self.corpus, quiet=self.quiet), training)

    def context(self, subject: Subject, training: Training | None = None, predictions: bool = True) -> Context:
        """The context of one model; without `predictions` its texts are only encoded."""
        return Context(
            subject,
            [self.corpus[self.split][number] for number in self.numbers],
            self.corpus.numbers_of(self.split, self.numbers),
            self.seed,
            self.batch_size,
            self.quiet,
            training,
            self.corpus,
            self.models_folder,
            self.name,
            predictions,
        )
