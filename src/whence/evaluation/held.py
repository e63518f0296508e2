"""What a bench holds: a subject and some examples, in batches, with their numbers, labels and targets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray
from torch import Generator
from tqdm.auto import tqdm

from whence.core.seeds import stream
from whence.data.examples import Corpus, Example
from whence.evaluation.token_erasure import attended_words
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Measure, Target, predicted
from whence.training.config import Training


@dataclass(frozen=True, eq=False)
class Held:
    """`chosen` are the numbers of the examples in their split. `training` says how the subject was trained, if known;
    `workshop` is the folder where models that are trained again are kept. If nothing is to be `answered`, the texts are
    only read, whatever the model was made for.
    """

    subject: Subject
    examples: Sequence[Example]
    chosen: Sequence[int]
    seed: int = 0
    batch_size: int = 32
    quiet: bool = False
    training: Training | None = None
    corpus: Corpus | None = None
    workshop: Path | None = None
    name: str = ""
    encoded: list[Batch] = field(default_factory=list)
    answered: bool = True

    def batches(self) -> Iterator[Batch]:
        """The examples in batches of like length, with a progress bar."""
        if not self.encoded:
            self.encoded.extend(self.subject.batches(self.examples, self.batch_size, answered=self.answered))
        yield from tqdm(self.encoded, desc=self.name, unit="batch", disable=self.quiet, leave=False, delay=1)

    def first_batch(self) -> Batch:
        """One small batch, to look at the model with."""
        return self.subject.encode(self.examples[:1], [0])

    def numbers(self, batch: Batch) -> list[int]:
        """The numbers of a batch's examples in their split."""
        return [int(self.chosen[i]) for i in batch.examples.tolist()]

    def labels(self, batch: Batch) -> list[str]:
        """The label of each example of a batch; empty where the model does not answer with one for the text."""
        return [self._label(self.examples[i]) for i in batch.examples.tolist()]

    def all_labels(self) -> list[str]:
        """The label of every example, in their order."""
        return [self._label(example) for example in self.examples]

    def _label(self, example: Example) -> str:
        return (example.label or "") if self.subject.task.needs == "label" else ""

    def stream(self, name: str) -> Generator:
        """Random numbers for one purpose."""
        return stream(self.seed, name)

    def target(self, batch: Batch, measure: Measure = "probability") -> Target:
        """What an explainer is to explain: the class that the model predicts."""
        return predicted(self.subject, batch, measure)

    def predictions(self, target: Target) -> list[str]:
        """The names of the classes that a target has; empty where the model does not answer with one for the text."""
        named = self.subject.task.needs == "label"
        return [self.subject.labels[number] if named else "" for number in target.classes.tolist()]

    def inputs(self, batch: Batch) -> Bool[ndarray, "batch token"]:
        """The tokens of a batch that are not special and may be attended."""
        return attended_words(self.subject, batch).numpy()

    def sureness(self) -> Float[ndarray, " example"]:
        """How sure the model is of its answer to each example: its largest probability, mean over the answers."""
        found = np.empty(len(self.examples))
        for batch in self.batches():
            largest = self.subject.predict(batch).amax(-1).cpu() * batch.answers  # [batch position]
            found[batch.examples.numpy()] = (largest.sum(-1) / batch.answers.sum(-1).clamp_min(1)).numpy()
        return found
