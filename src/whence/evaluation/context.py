"""What an experiment's `run` works on: a model, some examples in batches, and where retrained models are kept."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from torch import Generator
from tqdm.auto import tqdm

from whence.core.seeds import stream
from whence.data.examples import Corpus, Example
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target
from whence.training.config import Training


@dataclass(frozen=True, eq=False)
class Context:
    """A subject and the examples it is evaluated on.

    `numbers` are the numbers of the examples in their split. `training` says how the subject was trained, if known;
    `models_folder` keeps the models that are retrained. Without `predictions`, texts are only encoded, with no labels.
    `dataclasses.replace` makes the same context for another model or other examples.
    """

    subject: Subject
    examples: Sequence[Example]
    numbers: Sequence[int]
    seed: int = 0
    batch_size: int = 32
    quiet: bool = False
    training: Training | None = None
    corpus: Corpus | None = None
    models_folder: Path | None = None
    name: str = ""
    predictions: bool = True

    @cached_property
    def encoded(self) -> list[Batch]:
        """The examples in batches of similar length, encoded once: all of them, or an error."""
        return list(self.subject.batches(self.examples, self.batch_size, labelled=self.predictions))

    def batches(self) -> Iterator[Batch]:
        """The encoded batches, with a progress bar."""
        yield from tqdm(self.encoded, desc=self.name, unit="batch", disable=self.quiet, leave=False, delay=1)

    def first_batch(self) -> Batch:
        """The first example alone, to see what the model's sites are like."""
        return self.subject.encode(self.examples[:1], [0])

    def numbers_of(self, batch: Batch) -> list[int]:
        """The numbers of a batch's examples in their split."""
        return [int(self.numbers[i]) for i in batch.examples.tolist()]

    def labels_of(self, batch: Batch) -> list[str]:
        """The label of each example of a batch; empty where the model does not predict one class per text."""
        return [self._label(self.examples[i]) for i in batch.examples.tolist()]

    @property
    def labels(self) -> list[str]:
        """The label of every example, in their order; empty where the model does not predict one class per text."""
        return [self._label(example) for example in self.examples]

    def predicted_labels(self, target: Target) -> list[str]:
        """The names of the predicted classes; empty where the model does not predict one class per text."""
        named = self.subject.task.needs == "label"
        return [self.subject.labels[number] if named else "" for number in target.classes.tolist()]

    def generator(self, purpose: str) -> Generator:
        """Random numbers for one purpose, by the seed."""
        return stream(self.seed, purpose)

    def _label(self, example: Example) -> str:
        """The name that the model has for the label, which the table may give as a number."""
        if self.subject.task.needs != "label" or example.label is None:
            return ""
        return self.subject.labels[self.subject.encoder.label_id(example.label)]
