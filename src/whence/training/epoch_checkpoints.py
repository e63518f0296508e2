"""The models of every epoch of a training, kept beside the finished one: FOLDER/epochs/0 is the model untrained."""

import shutil
from collections.abc import Callable
from pathlib import Path

from whence.subject.subject import Subject

EPOCHS = "epochs"
EachEpoch = Callable[[int, Subject], None]


def keeping(folder: Path) -> EachEpoch:
    """A callback that saves the model of each epoch, whole or not at all."""

    def keep(epoch: int, subject: Subject) -> None:
        place = folder / EPOCHS / str(epoch)
        beside = place.with_name(f".{epoch}")
        shutil.rmtree(beside, ignore_errors=True)  # of a run that was cut off
        subject.model.save_pretrained(beside)
        subject.tokenizer.save_pretrained(beside)
        shutil.rmtree(place, ignore_errors=True)
        beside.rename(place)

    return keep


def kept_epochs(folder: Path) -> dict[int, Path]:
    """The folders of the epochs that were kept, by their numbers, 0 before training; none, if none were."""
    there = [place for place in (folder / EPOCHS).glob("*") if place.name.isdecimal()]
    return {int(place.name): place for place in sorted(there, key=lambda place: int(place.name))}


def all_of(*callbacks: EachEpoch | None) -> EachEpoch:
    """Several callbacks as one, in their order."""

    def each(epoch: int, subject: Subject) -> None:
        for callback in callbacks:
            if callback is not None:
                callback(epoch, subject)

    return each
