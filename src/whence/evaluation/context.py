"""What an experiment's `run` works on: a model, some examples in batches, and where retrained models are kept."""

import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from torch import Generator
from tqdm.auto import tqdm

from whence.core.seeds import stream
from whence.data.examples import Corpus, Example
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target
from whence.training.config import Training

Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Context:
    """A subject and the examples it is evaluated on.

    `numbers` are the numbers of the examples in their split. `training` says how the subject was trained, if known;
    `models_folder` keeps the models that are retrained. Without `predictions`, texts are only encoded, with no labels.
    `dataclasses.replace` makes the same context for another model or other examples.

    A shard of an experiment has the same examples and `evaluated`, the indices of those that are its own: `batches` are
    then the ones that hold some of them. What is a property of the whole corpus is computed from `all_batches`, by
    `once` for all shards of a process. So a shard's rows are those of the whole experiment, to the last bit.
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
    evaluated: frozenset[int] | None = None
    _known: dict[Any, Any] = field(default_factory=dict, repr=False)  # what `once` has computed last

    @cached_property
    def encoded(self) -> list[Batch]:
        """The examples in batches of similar length, encoded once: all of them, or an error."""
        return list(self.subject.batches(self.examples, self.batch_size, labelled=self.predictions))

    def batches(self) -> Iterator[Batch]:
        """The batches that are evaluated, with a progress bar."""
        yield from self._shown([batch for batch in self.encoded if self._is_own(batch)])

    def all_batches(self) -> Iterator[Batch]:
        """All batches of the corpus, those of other shards too, with a progress bar."""
        yield from self._shown(self.encoded)

    def once(self, name: object, compute: Callable[[], Value]) -> Value:
        """A value that depends on model, examples and batches alone, computed once for all shards of this context."""
        model, examples, found = self._known.get((name, self.batch_size), (None, None, None))
        if model is None or model() is not self.subject or examples is not self.examples:
            found = compute()
            self._known[name, self.batch_size] = weakref.ref(self.subject), self.examples, found
        value: Value = found
        return value

    def _shown(self, batches: list[Batch]) -> Iterator[Batch]:
        yield from tqdm(batches, desc=self.name, unit="batch", disable=self.quiet, leave=False, delay=1)

    def _is_own(self, batch: Batch) -> bool:
        return self.evaluated is None or not self.evaluated.isdisjoint(batch.examples.tolist())

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
