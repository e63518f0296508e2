"""A bench with other models in its place: trained again, from other seeds, half trained, or untrained."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from whence.core.errors import BadConfig
from whence.data.examples import Corpus
from whence.evaluation.held import Held
from whence.evaluation.untrained import before_training
from whence.subject.subject import load
from whence.training.config import Training
from whence.training.epoch_checkpoints import kept_epochs
from whence.training.train import train, train_all

Own = TypeVar("Own", bound="Retraining")  # not `Self`, which beartype does not know in methods by themselves


@dataclass(frozen=True, eq=False)
class Retraining(Held):
    """What is trained again is kept in the `workshop`, and found there the next time."""

    def from_seeds(
        self: Own, seeds: int, altered: Sequence[str] = (), sites: tuple[str, ...] = ("*",)
    ) -> Iterator[tuple[int, Own]]:
        """This bench as it is (seed -1), or one with a model trained from each of so many seeds.

        Those that are to be `altered` in training are trained along with them, several at a time.
        """
        if not seeds:
            yield -1, self
            return
        self.train_ahead([_altered(seed, how, sites) for seed in range(seeds) for how in ("none", *altered)])
        for seed in range(seeds):
            yield seed, self.retrained(seed, "none")

    def retrained(self: Own, seed: int, altered: str, sites: tuple[str, ...] = ("*",)) -> Own:
        """The same bench with a model trained again, from another seed, perhaps with altered attention."""
        return self.trained_with(_altered(seed, altered, sites))

    def siblings(self: Own, count: int) -> Iterator[tuple[int, Own]]:
        """So many benches with a model of the same training from another seed."""
        if count == 0:
            return
        own = -1 if self.training is None else self.training.seed
        seeds = [seed for seed in range(count + 1) if seed != own][:count]
        self.train_ahead([_altered(seed, "none", ("*",)) for seed in seeds])
        for seed in seeds:
            yield seed, self.retrained(seed, "none")

    def train_ahead(self, changes: Sequence[Mapping[str, Any]]) -> None:
        """Train the models that `trained_with` will be asked for, several at a time."""
        train_all([self._again(one) for one in changes if not self._is_own(one)], quiet=self.quiet)

    def trained_with(self: Own, changes: Mapping[str, Any]) -> Own:
        """The same bench with a model that is trained as this one was, but for some options."""
        if self._is_own(changes):
            return self
        training, folder, corpus = self._again(changes)
        subject = train(training, folder, corpus=corpus, quiet=self.quiet)
        return replace(self, subject=subject, training=training, encoded=[])

    def along_training(self: Own, folder: Path) -> Iterator[tuple[int, Own]]:
        """The same bench with the model of each epoch that was kept in training (`keep_epochs`)."""
        places = kept_epochs(folder)
        if not places:
            raise BadConfig(f"{folder} keeps no models of single epochs; train it with --keep-epochs")
        dtype = str(self.subject.model.dtype).removeprefix("torch.")
        for epoch, place in places.items():
            yield epoch, replace(self, subject=load(place, device=str(self.subject.device), dtype=dtype), training=None)

    def untrained(self: Own) -> Own:
        """The same bench with a model that has learned nothing."""
        return replace(self, subject=before_training(self), training=None, encoded=[])

    def _is_own(self, changes: Mapping[str, Any]) -> bool:
        """Whether the model at hand is the one that is wanted; no model is, if it is not known how it was trained."""
        return self.training is not None and self.training == self.training.model_copy(update=changes)

    def _again(self, changes: Mapping[str, Any]) -> tuple[Training, Path, Corpus]:
        if self.training is None or self.corpus is None or self.workshop is None:
            raise BadConfig(
                f"{self.subject.name} cannot be trained again: that needs a model that `whence train` made, its corpus"
                " with the splits train and dev, and a folder for results; or leave retrain at 0"
            )
        training = self.training.model_copy(update=changes)
        return training, self.workshop / training.called(self.corpus), self.corpus


def _altered(seed: int, altered: str, sites: tuple[str, ...]) -> dict[str, Any]:
    """The options of a training from another seed, with attention altered at some sites or not."""
    return {"seed": seed, "altered": altered, "altered_sites": ("*",) if altered == "none" else sites}
