"""The record of a training, saved with its model: its options, its scores, and whether it can be retrained."""

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from whence.core.errors import BadConfig
from whence.data.examples import Corpus
from whence.training.config import Training

RECORD = "training.json"  # written last: a folder that has it is finished


def recorded_training(folder: Path) -> Training | None:
    """How the model in a folder was trained, if Whence trained it."""
    try:
        return Training(**training_record(folder)["training"])
    except (KeyError, TypeError, ValidationError, BadConfig):
        return None


def retrainable(folder: Path, corpus: Corpus) -> tuple[Training | None, str]:
    """How to retrain the model in a folder on this corpus; or None and why not, if Whence trained it."""
    training = recorded_training(folder)
    if training is None:
        return None, ""
    if not {"train", "dev"} <= set(corpus.splits):
        return None, f"{corpus.name} has no splits train and dev"
    if training_record(folder)["cache_key"]["corpus"] != corpus.checksum:
        return None, f"the model was trained on other examples than those of {corpus.name}"
    if training.vectors is not None and not training.vectors.is_file():
        return None, f"its initial word vectors are not available any more ({training.vectors})"
    return training, ""


def training_seconds(folder: Path) -> float:
    """How long the training of the model in a folder took (its last part, if it was cut off)."""
    return float(training_record(folder)["seconds"])


def refuse_other(folder: Path, key: dict[str, Any], name: str = RECORD) -> None:
    """Refuse a folder that holds a model of another training."""
    there = training_record(folder, name).get("cache_key", {})
    differing = sorted(option for option in {*there, *key} if there.get(option) != key.get(option))
    if differing:
        raise BadConfig(
            f"{folder} holds a model of another training (these options differ: {', '.join(differing)});"
            " name another folder"
        )


def training_record(folder: Path, name: str = RECORD) -> dict[str, Any]:
    """The record of a training; empty, if the file is not one of ours."""
    try:
        record = json.loads((folder / name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    ours = isinstance(record, dict) and isinstance(record.get("cache_key"), dict)
    return record if ours else {}
