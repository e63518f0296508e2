"""The options of a training: those that every training has, and in `options` those of its model."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny, model_validator

from whence.core.errors import BadData
from whence.data.checksum import sha256
from whence.data.examples import Corpus
from whence.data.tables.columns import Columns
from whence.options import Unspoken, checked, usually
from whence.reference_model import ModelOptions, ReferenceModel, find_model
from whence.training.adversarial import Adversarial
from whence.training.defaults import split_options
from whence.training.guided import GuidedBy
from whence.training.recipe import Optimizer, Recipe, Schedule

SCHEMA = 3  # of the cache key: a change here invalidates all saved trainings
OF_ONE_RUN = ("seed", "override", "override_sites")  # trainings that differ in these alone are compared with each other
BY_CONTENT = {"data", "data_dir", "columns", "vectors", "options", "device"}  # in the cache key, not by their names


class Training(BaseModel):
    """What to train, on what, and how. Options of the model are given like all others and kept in `options`:
    `Training(model="additive", encoder="cnn", epochs=3).options.encoder`. Defaults are those of the model.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")  # nothing is ignored: `_split` refuses what it does not know

    model: Unspoken[str] = Field("additive", description="a reference model, or the saved model to fine-tune")
    options: Unspoken[SerializeAsAny[ModelOptions]] = Field(
        default_factory=ModelOptions, description="the model's own options"
    )
    data: str = Field("reviews", description="corpus with splits train and dev: a name or a table with a split column")
    data_dir: Annotated[Path | None, usually("$WHENCE_DATA", "PATH")] = Field(
        None, description="folder with the downloaded corpora"
    )
    columns: Columns = Field(Columns(), description="names of the table's columns, where they cannot be inferred")
    limit: Annotated[int | None, usually("all", "INT")] = Field(
        None, gt=1, description="train on at most N sampled examples, the same for all seeds; dev gets a quarter of N"
    )
    vectors: Annotated[Path | None, usually("none", "PATH")] = Field(
        None, description="initial word vectors, in GloVe's text format"
    )
    min_count: int = Field(1, gt=0, description="rarer words are unknown")
    subwords: int = Field(0, ge=0, description="size of a subword vocabulary (0: whole words)")
    lowercase: bool = Field(True, description="lower-case all words")
    epochs: int = Field(8, ge=0, description="passes over the training texts, at most (0: the untrained model)")
    patience: int = Field(3, gt=0, description="stop after N epochs without a better score on dev")
    batch_size: int = Field(32, gt=0, description="texts in a batch")
    learning_rate: float = Field(1e-3, gt=0, description="learning rate of the optimizer")
    weight_decay: float = Field(1e-5, ge=0, description="on all but what scores the attention")
    optimizer: Optimizer = Field("amsgrad", description="Adam, in one of four forms (adam98: β₂ = .98), or Adadelta")
    schedule: Schedule = Field(
        "constant",
        description="of the learning rate (noam: up, then down with the root of the steps; cool-down: constant, then"
        " down to 0 in the last epochs)",
    )
    warm_up: int = Field(500, gt=0, description="steps in which the learning rate goes up (noam)")
    cool_down: int = Field(1, gt=0, description="last epochs, in which the learning rate goes down to 0 (cool-down)")
    clip: float = Field(0.0, ge=0, description="largest norm of a gradient (0: any)")
    dropout_epochs: int = Field(0, ge=0, description="epochs with dropout, then none (0: all)")
    curriculum: Annotated[tuple[tuple[int, int], ...], usually("none", "[INT INT ...]")] = Field(
        (), description="(words, epochs): only texts of at most so many words until so many epochs are done"
    )
    interchangeable: Annotated[tuple[str, ...], usually("none", "[WORDS ...]")] = Field(
        (), description="groups of words, each in one string, that are exchanged at random in training, labels too"
    )
    rename_from: int = Field(0, ge=0, description="epochs before interchangeable words are exchanged")
    rename_share: float = Field(0.5, gt=0, le=1, description="share of the examples in which they are exchanged")
    keep_epochs: bool = Field(False, description="keep the model of every epoch too, in OUT/epochs/N (0: untrained)")
    select_on: Literal["dev", "test"] = Field(
        "dev", description="the split that selects the best epoch (test: as some authors did; never do so)"
    )
    override: Literal["none", "uniform", "random"] = Field(
        "none", description="replace attention in training and evaluation"
    )
    override_sites: tuple[str, ...] = Field(("*",), min_length=1, description="where: names of sites, or patterns")
    adversarial: Unspoken[Adversarial | None] = Field(
        None, description="predict like another model, and attend differently (`whence run adversary` sets it)"
    )
    guided_by: Unspoken[GuidedBy | None] = Field(
        None, description="attend as another model does (`whence run guide` sets it)"
    )
    device: str = Field("cpu", description="where to train: auto (the best there is), cpu, cuda, cuda:1, mps")
    seed: int = Field(0, ge=0, description="random seed")

    @model_validator(mode="before")
    @classmethod
    def _split(cls, given: Any) -> Any:
        return split_options(given, set(cls.model_fields)) if isinstance(given, Mapping) else given

    @model_validator(mode="after")
    def _names_are_the_words_of_nobody_else(self) -> "Training":
        if self.interchangeable and (self.adversarial or self.guided_by):
            raise ValueError("interchangeable words would change texts under which another model's attention is kept")
        return self

    @property
    def reference(self) -> ReferenceModel | None:
        """The reference model that is trained; None if a saved model is fine-tuned."""
        return find_model(self.model)

    @property
    def recipe(self) -> Recipe:
        """The part that is about fitting."""
        return Recipe(**{field.name: getattr(self, field.name) for field in fields(Recipe)})

    def with_options(self, changes: Mapping[str, Any]) -> "Training":
        """The same training but for some options, shared ones or the model's own.

        If `model` changes, the options that the new model has too are kept.
        """
        options = self.flat()
        if changes.get("model", self.model) != self.model:
            other = find_model(str(changes["model"]))
            has = set(other.options.model_fields) if other else set()
            options = {name: value for name, value in options.items() if name in type(self).model_fields or name in has}
        return Training(**{**options, **changes})

    def flat(self) -> dict[str, Any]:
        """All options by name, as a user gives them."""
        shared = {name: getattr(self, name) for name in type(self).model_fields if name != "options"}
        return {**shared, **dict(self.options)}

    def to_json(self) -> dict[str, Any]:
        """All options by name, as values of JSON."""
        own = self.options.model_dump(mode="json")
        return {**self.model_dump(mode="json", exclude={"options", "device"}), **own}  # a saved model runs anywhere

    def cache_key(self, corpus: Corpus) -> dict[str, Any]:
        """What determines the trained model: the options, and the contents of corpus and word vectors."""
        by_content: dict[str, Any] = dict.fromkeys(BY_CONTENT, True)
        bases = {name: {"base"} for name in ("adversarial", "guided_by")}  # their models are known by fingerprint
        return {
            "schema": SCHEMA,
            **self.model_dump(mode="json", exclude={**by_content, **bases}),
            **self.options.model_dump(mode="json"),
            "corpus": corpus.checksum,
            "vectors": self.vectors and vectors_checksum(self.vectors),
        }

    def folder_name(self, corpus: Corpus) -> str:
        """The name of this training's folder in a models folder."""
        where = "" if self.override_sites == ("*",) else "-" + re.sub(r"[^a-z0-9_]+", "", "-".join(self.override_sites))
        key = self.key_across_seeds(corpus)
        return f"{corpus.name.replace(':', '-')}-{key}-{self.override}{where}-seed{self.seed}"

    def key_across_seeds(self, corpus: Corpus) -> str:
        """A short hash of what is trained, whatever the seed and the override."""
        same = {name: value for name, value in self.cache_key(corpus).items() if name not in OF_ONE_RUN}
        return hashlib.sha256(json.dumps(same, sort_keys=True).encode()).hexdigest()[:8]


def training_for(model: str, **options: Any) -> Training:
    """The training of a reference model or of a saved one; wrong options raise `BadConfig`."""
    return checked(Training, {"model": model, **options})


@cache
def vectors_checksum(path: Path) -> str:
    """sha256 of a file of word vectors: two files of the same name may differ."""
    if not path.is_file():
        raise BadData(f"there is no file {path}; expected word vectors in the text format of GloVe or fastText")
    return sha256(path)
