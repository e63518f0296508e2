"""The models of every epoch of a training, kept with the finished one: FOLDER/epochs/0 is the model untrained."""

import shutil
from collections.abc import Callable
from pathlib import Path

from whence.subject.subject import Subject

EPOCHS = "epochs"
EachEpoch = Callable[[int, Subject], None]


def save_epochs(folder: Path) -> EachEpoch:
    """A callback that saves the model of each epoch, atomically."""

    def keep(epoch: int, subject: Subject) -> None:
        place = folder / EPOCHS / str(epoch)
        temporary = place.with_name(f".{epoch}")
        shutil.rmtree(temporary, ignore_errors=True)  # of a run that was cut off
        subject.model.save_pretrained(temporary)
        subject.tokenizer.save_pretrained(temporary)
        shutil.rmtree(place, ignore_errors=True)
        temporary.rename(place)

    return keep


def kept_epochs(folder: Path) -> dict[int, Path]:
    """The folders of the epochs that were kept, by their numbers, 0 before training; empty if none were."""
    there = [place for place in (folder / EPOCHS).glob("*") if place.name.isdecimal()]
    return {int(place.name): place for place in sorted(there, key=lambda place: int(place.name))}


def call_all(*callbacks: EachEpoch | None) -> EachEpoch:
    """Several callbacks as one, in their order."""

    def each(epoch: int, subject: Subject) -> None:
        for callback in callbacks:
            if callback is not None:
                callback(epoch, subject)

    return each
