"""Training a reference model on a corpus: `whence train additive --data sst`."""

import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from torch import Generator

from whence.core.attending import Rule
from whence.core.errors import BadConfig, BadData
from whence.core.overrides import random, uniform
from whence.core.seeds import stream
from whence.data.catalogue import load as load_corpus
from whence.data.columns import Columns
from whence.data.examples import Corpus, Example
from whence.data.shelf import sha256
from whence.models.beginnings import REFERENCE, learnable, untrained
from whence.models.fitting import Recipe, fit
from whence.models.subject import Subject, load
from whence.options import usually
from whence.results.saving import saving, write_json

RECORD = "training.json"  # written last: a folder that has it is finished
ALTERED: dict[str, Callable[[Generator], Rule]] = {"uniform": lambda _: uniform, "random": random}
OF_ONE_RUN = ("seed", "altered", "altered_sites")  # trainings that differ in these alone are set beside one another
FINE_TUNED = "fine-tuned"
PRESETS: dict[str, dict[str, Any]] = {
    "additive": {},
    "conditional": {},
    "hierarchical": {"hidden_size": 50, "embedding_size": 200, "epochs": 15, "patience": 5, "clip": 10.0},
    "recurrent": {"embedding_size": 256, "hidden_size": 256, "layers": 2, "dropout": 0.3, "batch_size": 64,
                  "epochs": 20, "clip": 1.0, "weight_decay": 0.0},
    "transformer": {"hidden_size": 256, "layers": 3, "dropout": 0.1, "batch_size": 64, "epochs": 20, "clip": 1.0,
                    "learning_rate": 5e-4, "schedule": "linear", "optimizer": "adamw", "weight_decay": 1e-4},
    FINE_TUNED: {"epochs": 3, "learning_rate": 5e-5, "schedule": "linear", "optimizer": "adamw", "weight_decay": 0.01,
                 "clip": 1.0},
}  # fmt: skip


class Training(BaseModel):
    """What to train, on what, and how. Defaults are those of the model: for `additive` and `conditional` Jain &
    Wallace's (2019); for a saved model, which is fine-tuned, those usual for BERT.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(
        "additive", description=f"{', '.join(REFERENCE)}; or the folder or hub name of a model to fine-tune"
    )
    data: str = Field("reviews", description="corpus with splits train and dev: a name or a table with a split column")
    data_dir: Annotated[Path | None, usually("$WHENCE_DATA", "PATH")] = Field(
        None, description="folder with the native corpora"
    )
    columns: Columns = Field(Columns(), description="names of the table's columns, where they cannot be guessed")
    limit: Annotated[int | None, usually("all", "INT")] = Field(
        None,
        gt=1,
        description="learn from so many of the examples, the same for all seeds, and a quarter of that in dev",
    )
    vectors: Annotated[Path | None, usually("none", "PATH")] = Field(
        None, description="word vectors to begin with, in GloVe's text format"
    )
    encoder: Literal["lstm", "cnn", "average"] = Field("lstm", description="what reads the words (additive)")
    attention: Literal["additive", "dot"] = Field("additive", description="how attention scores a word")
    bypass: bool = Field(False, description="pairs: let the second text reach the decoder past the attention")
    embedding_size: int = Field(300, gt=0, description="width of a word vector, where no vectors are given")
    hidden_size: int = Field(128, gt=0, description="width of the encoder (per direction of the lstm)")
    layers: int = Field(1, gt=0, description="layers (recurrent, transformer)")
    heads: int = Field(4, gt=0, description="heads of a layer (transformer)")
    dropout: float = Field(0.0, ge=0, lt=1, description="share of the units that are left out in training")
    min_count: int = Field(1, gt=0, description="words seen less often are unknown")
    subwords: int = Field(0, ge=0, description="so many word pieces as vocabulary (0: whole words)")
    lowercase: bool = Field(True, description="read all words in lower case")
    epochs: int = Field(8, gt=0, description="passes over the training texts, at most")
    patience: int = Field(3, gt=0, description="stop after so many epochs without a better score on dev")
    batch_size: int = Field(32, gt=0, description="texts at a time")
    learning_rate: float = Field(1e-3, gt=0, description="of the optimizer")
    weight_decay: float = Field(1e-5, ge=0, description="on all but the attention's own parameters")
    optimizer: Literal["amsgrad", "adamw"] = Field("amsgrad", description="Adam, in one of two forms")
    schedule: Literal["constant", "linear"] = Field("constant", description="of the learning rate")
    clip: float = Field(0.0, ge=0, description="largest norm of a gradient (0: any)")
    altered: Literal["none", "uniform", "random"] = Field("none", description="attention during training (train+infer)")
    altered_sites: tuple[str, ...] = Field(("*",), min_length=1, description="where: names of sites, or patterns")
    seed: int = Field(0, ge=0, description="everything random follows from it")

    @model_validator(mode="before")
    @classmethod
    def _as_usual_for_the_model(cls, given: Any) -> Any:
        model = given.get("model", "additive") if isinstance(given, dict) else "additive"
        return {**PRESETS.get(str(model), PRESETS[FINE_TUNED]), **given} if isinstance(given, dict) else given

    @property
    def recipe(self) -> Recipe:
        """The part that is about fitting."""
        return Recipe(
            self.epochs, self.batch_size, self.learning_rate, self.weight_decay, self.patience, self.seed,
            self.optimizer, self.schedule, self.clip,
        )  # fmt: skip

    def identity(self, corpus: Corpus) -> dict[str, Any]:
        """What determines the trained model: the options, and the contents of the corpus."""
        options = self.model_dump(mode="json", exclude={"data", "data_dir", "columns", "vectors"})
        return {**options, "corpus": corpus.checksum, "vectors": self.vectors and vectors_checksum(self.vectors)}

    def called(self, corpus: Corpus) -> str:
        """The name of the folder in a workshop where this training's model is kept."""
        where = "" if self.altered_sites == ("*",) else "-" + re.sub(r"[^a-z0-9_]+", "", "-".join(self.altered_sites))
        return f"{corpus.name.replace(':', '-')}-{self.key(corpus)}-{self.altered}{where}-seed{self.seed}"

    def key(self, corpus: Corpus) -> str:
        """A short name for what is trained, whatever the seed and the alteration."""
        same = {name: value for name, value in self.identity(corpus).items() if name not in OF_ONE_RUN}
        return hashlib.sha256(json.dumps(same, sort_keys=True).encode()).hexdigest()[:8]


def train(training: Training, folder: Path, *, corpus: Corpus | None = None, quiet: bool = False) -> Subject:
    """A trained subject, saved in `folder` with `save_pretrained`; taken from there if it is finished already.

    A run that was cut off goes on from its last finished epoch.
    """
    corpus = corpus or load_corpus(training.data, data_dir=training.data_dir, columns=training.columns)
    identity = training.identity(corpus)
    if (folder / RECORD).exists():
        _refuse_other(folder, identity)
        return load(folder)
    with saving(folder):
        return _trained(training, folder, corpus, identity, quiet)


def _trained(training: Training, folder: Path, corpus: Corpus, identity: dict[str, Any], quiet: bool) -> Subject:
    begun = time.perf_counter()
    if not {"train", "dev"} <= set(corpus.splits):
        raise BadData(
            f"{corpus.name} has the splits {', '.join(corpus.splits)}; training needs train and dev. Give the table a"
            " column `split` that says train, dev or test in each row"
        )
    train = drawn(corpus["train"], training.limit)
    dev = drawn(learnable(corpus, "dev"), training.limit and training.limit // 4)
    subject = untrained(training, replace(corpus, splits={**corpus.splits, "train": tuple(train)}))
    folder.mkdir(parents=True, exist_ok=True)
    started = folder / "training.started.json"
    if started.exists():
        _refuse_other(folder, identity, started.name)
    else:
        write_json(started, {"identity": identity})
    progress = fit(
        subject, train, dev, training.recipe, checkpoint=folder / "checkpoint.pt", quiet=quiet,
        override=None if training.altered == "none" else partial(_alteration, training),
    )  # fmt: skip
    subject.model.save_pretrained(folder)
    subject.tokenizer.save_pretrained(folder)
    vectors = training.vectors and training.vectors.resolve()  # to be found from any folder
    options = training.model_copy(update={"vectors": vectors}).model_dump(mode="json")
    record = {"identity": identity, "training": options, "dev": progress.scores,
              "losses": progress.losses, "best": progress.best,
              "seconds": round(time.perf_counter() - begun, 2), "notes": list(corpus.notes)}  # fmt: skip
    write_json(folder / RECORD, record)
    for leftover in (started, folder / "checkpoint.pt", folder / "checkpoint.new"):
        leftover.unlink(missing_ok=True)
    return subject


def altered_as(training: Training) -> Mapping[str, Rule] | None:
    """The rules that a model was trained with, to look at it as it was trained."""
    return None if training.altered == "none" else _alteration(training, stream(training.seed, "attention after"))


def _alteration(training: Training, generator: Generator) -> Mapping[str, Rule]:
    rule = ALTERED[training.altered](generator)
    return dict.fromkeys(training.altered_sites, rule)


def drawn(examples: Sequence[Example], limit: int | None) -> Sequence[Example]:
    """So many of the examples at most, drawn by chance, but always the same."""
    if limit is None or limit >= len(examples):
        return examples
    numbers = torch.randperm(len(examples), generator=stream(0, "limit"))[:limit]
    return [examples[number] for number in sorted(numbers.tolist())]


@cache
def vectors_checksum(path: Path) -> str:
    """sha256 of a file of word vectors: two files of the same name may hold others."""
    if not path.is_file():
        raise BadData(f"there is no file {path}; expected word vectors in the text format of GloVe or fastText")
    return sha256(path)


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


def _record(folder: Path, name: str = RECORD) -> dict[str, Any]:
    """What was recorded of a training; nothing, if the file is somebody else's."""
    try:
        record = json.loads((folder / name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    ours = isinstance(record, dict) and isinstance(record.get("identity"), dict)
    return record if ours else {}


def _refuse_other(folder: Path, identity: dict[str, Any], name: str = RECORD) -> None:
    there = _record(folder, name).get("identity", {})
    differing = sorted(key for key in identity if there.get(key) != identity[key])
    if differing:
        raise BadConfig(
            f"{folder} holds a model that was trained otherwise (other: {', '.join(differing)}); name another folder"
        )
