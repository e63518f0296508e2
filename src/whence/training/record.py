"""What is recorded of a training beside its model: how it was done, how it went, whether it can be done again."""

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from whence.core.errors import BadConfig
from whence.data.examples import Corpus
from whence.training.config import Training

RECORD = "training.json"  # written last: a folder that has it is finished


def recorded(folder: Path) -> Training | None:
    """How the model in a folder was trained, if Whence trained it."""
    try:
        return Training(**_record(folder)["training"])
    except (KeyError, TypeError, ValidationError):
        return None


def retrainable(folder: Path, corpus: Corpus) -> tuple[Training | None, str]:
    """How to train the model in a folder again on this corpus; or None and why not, if Whence trained it."""
    training = recorded(folder)
    if training is None:
        return None, ""
    if not {"train", "dev"} <= set(corpus.splits):
        return None, f"{corpus.name} has no splits train and dev"
    if _record(folder)["identity"]["corpus"] != corpus.checksum:
        return None, f"the model was trained on other examples than those of {corpus.name}"
    if training.vectors is not None and not training.vectors.is_file():
        return None, f"the word vectors that it began with are not there any more ({training.vectors})"
    return training, ""


def training_seconds(folder: Path) -> float:
    """How long the training of the model in a folder took (its last part, if it was cut off)."""
    return float(_record(folder)["seconds"])


def refuse_other(folder: Path, identity: dict[str, Any], name: str = RECORD) -> None:
    """Refuse a folder that holds a model of another identity."""
    there = _record(folder, name).get("identity", {})
    differing = sorted(key for key in {*there, *identity} if there.get(key) != identity.get(key))
    if differing:
        raise BadConfig(
            f"{folder} holds a model that was trained otherwise (other: {', '.join(differing)}); name another folder"
        )


def _record(folder: Path, name: str = RECORD) -> dict[str, Any]:
    """What was recorded of a training; nothing, if the file is somebody else's."""
    try:
        record = json.loads((folder / name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    ours = isinstance(record, dict) and isinstance(record.get("identity"), dict)
    return record if ours else {}
