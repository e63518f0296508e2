"""What to train, on what, and how: the options of `whence train`, and each model's own defaults."""

import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from whence.core.errors import BadData
from whence.data.checksum import sha256
from whence.data.examples import Corpus
from whence.data.tables.columns import Columns
from whence.options import Unspoken, usually
from whence.training.adversarial import Opposing
from whence.training.fit import Recipe
from whence.training.guided import Guiding
from whence.training.presets.wu2020 import Mode, options_of
from whence.training.presets.yang2019 import OPTIONS as OF_CHUNKER

OF_ONE_RUN = ("seed", "altered", "altered_sites")  # trainings that differ in these alone are set beside one another
LATER = (*OF_CHUNKER, "mode", "positions", "norm", "loss", "head_size", "inner_size", "freeze", "dropout_epochs",
         "keep_epochs", "chosen_on", "opposing", "guiding")  # fmt: skip
FINE_TUNED = "fine-tuned"
POOLED = {"mode": "corrected", "hidden_size": 300, "layers": 6, "heads": 8, "dropout": 0.1, "freeze": True,
          "batch_size": 500, "epochs": 300, "patience": 20, "optimizer": "adam", "learning_rate": 1e-4,
          "weight_decay": 1e-4}  # fmt: skip
PRESETS: dict[str, dict[str, Any]] = {
    "additive": {},
    "conditional": {},
    "hierarchical": {"hidden_size": 50, "embedding_size": 200, "epochs": 15, "patience": 5, "clip": 10.0},
    "disan": {"hidden_size": 300, "dropout": 0.25, "batch_size": 64, "epochs": 46, "patience": 10,
              "optimizer": "adadelta", "learning_rate": 0.5, "weight_decay": 5e-5},
    "recurrent": {"embedding_size": 256, "hidden_size": 256, "layers": 2, "dropout": 0.3, "batch_size": 64,
                  "epochs": 20, "clip": 1.0, "weight_decay": 0.0},
    "transformer": {"hidden_size": 256, "layers": 3, "dropout": 0.1, "batch_size": 64, "epochs": 20, "clip": 1.0,
                    "learning_rate": 5e-4, "schedule": "linear", "optimizer": "adamw", "weight_decay": 1e-4},
    "weighted": {"batch_size": 64, "epochs": 20},
    "reader": {"attention": "none", "embedding_size": 64, "hidden_size": 64, "epochs": 30, "patience": 5, "clip": 1.0},
    "pooled": POOLED,
    "pooled_series": POOLED | {"batch_size": 25},
    FINE_TUNED: {"epochs": 3, "learning_rate": 5e-5, "schedule": "linear", "optimizer": "adamw", "weight_decay": 0.01,
                 "clip": 1.0},
}  # fmt: skip
REFERENCE = tuple(model for model in PRESETS if model != FINE_TUNED)  # what can be trained from nothing


class Training(BaseModel):
    """What to train, on what, and how. Defaults are those of the model: for `additive` and `conditional` Jain &
    Wallace's (2019); for `pooled` and `pooled_series` those of Wu et al. 2020, in one of three modes; for `disan` those
    of its authors' code (their 400,000 steps are 46 epochs of SNLI); for `transformer` as a tagger, given a mode, those
    of Yang 2019; for a saved model, which is fine-tuned, those usual for BERT.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(
        "additive", description=f"{', '.join(REFERENCE)}; or the folder or hub name of a model to fine-tune"
    )
    mode: Annotated[Mode | None, usually("corrected, of pooled and pooled_series", "paper|author-code|corrected")] = (
        Field(
            None,
            description="whose options hold where nothing is said: the paper's, its authors' code's, or corrected ones"
            " (pooled; transformer as a tagger)",
        )
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
    encoder: Literal["lstm", "cnn", "average", "rnn", "gru"] = Field(
        "lstm", description="what reads the words (additive: lstm, cnn, average; reader: rnn, lstm, gru)"
    )
    attention: Literal["additive", "dot", "none"] = Field(
        "additive", description="how attention scores a word (none: reader answers from its last state)"
    )
    bypass: bool = Field(False, description="pairs: let the second text reach the decoder past the attention")
    embedding_size: int = Field(300, gt=0, description="width of a word vector, where no vectors are given")
    hidden_size: int = Field(128, gt=0, description="width of the encoder (per direction of the lstm)")
    layers: int = Field(1, gt=0, description="layers (recurrent, transformer, pooled)")
    heads: int = Field(4, gt=0, description="heads of a layer (transformer, pooled)")
    head_size: int = Field(64, gt=0, description="width of a head (pooled)")
    inner_size: int = Field(64, gt=0, description="width inside the feed-forward layers (pooled)")
    feed_forward_size: Annotated[int | None, usually("twice hidden_size", "INT")] = Field(
        None, gt=0, description="width inside the feed-forward layers (transformer)"
    )
    form: Literal["vaswani", "torchnlp"] = Field(
        "vaswani", description="an encoder as Vaswani et al. have it, or torchnlp, which Yang 2019 used (transformer)"
    )
    rectified: bool = Field(False, description="ReLU and dropout also where none belong, as in torchnlp (transformer)")
    masks_padding: bool = Field(True, description="let nobody attend to padding (transformer)")
    positions: Literal["none", "sinusoidal"] = Field("none", description="what is added to the words' vectors (pooled)")
    norm: Literal["post", "pre", "query"] = Field(
        "pre",
        description="layer norm after each sub-layer, before it (pooled, transformer), or before it on the queries"
        " alone (pooled)",
    )
    loss: Literal["cross_entropy", "binary"] = Field(
        "cross_entropy", description="of one class, or of a yes or no for each, summed (pooled)"
    )
    freeze: bool = Field(False, description="leave the given word vectors as they are (pooled, transformer)")
    dropout: float = Field(0.0, ge=0, lt=1, description="share of the units that are left out in training")
    dropout_epochs: int = Field(0, ge=0, description="so many epochs with dropout, then none (0: all with)")
    min_count: int = Field(1, gt=0, description="words seen less often are unknown")
    subwords: int = Field(0, ge=0, description="so many word pieces as vocabulary (0: whole words)")
    lowercase: bool = Field(True, description="read all words in lower case")
    epochs: int = Field(8, ge=0, description="passes over the training texts, at most (0: the model as it begins)")
    patience: int = Field(3, gt=0, description="stop after so many epochs without a better score on dev")
    batch_size: int = Field(32, gt=0, description="texts at a time")
    learning_rate: float = Field(1e-3, gt=0, description="of the optimizer")
    weight_decay: float = Field(1e-5, ge=0, description="on all but the attention's own parameters")
    optimizer: Literal["amsgrad", "adamw", "adam", "adam98", "adadelta"] = Field(
        "amsgrad", description="Adam, in one of four forms (adam98: β₂ = .98), or Adadelta"
    )
    schedule: Literal["constant", "linear", "noam"] = Field(
        "constant", description="of the learning rate (noam: up, then down with the root of the steps)"
    )
    warm_up: int = Field(500, gt=0, description="steps in which the learning rate goes up (noam)")
    clip: float = Field(0.0, ge=0, description="largest norm of a gradient (0: any)")
    keep_epochs: bool = Field(False, description="keep the model of every epoch too, in OUT/epochs/N (0: untrained)")
    chosen_on: Literal["dev", "test"] = Field(
        "dev", description="the split that the best epoch is chosen by (test: as some authors did, never do so)"
    )
    altered: Literal["none", "uniform", "random"] = Field("none", description="attention during training (train+infer)")
    altered_sites: tuple[str, ...] = Field(("*",), min_length=1, description="where: names of sites, or patterns")
    opposing: Unspoken[Opposing | None] = Field(
        None, description="answer like another model, and attend otherwise (`whence run adversary` sets it)"
    )
    guiding: Unspoken[Guiding | None] = Field(
        None, description="attend as another model does (`whence run guide` sets it)"
    )
    seed: int = Field(0, ge=0, description="everything random follows from it")

    @model_validator(mode="before")
    @classmethod
    def _as_usual_for_the_model(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        usual = PRESETS.get(str(given.get("model", "additive")), PRESETS[FINE_TUNED])
        mode = given.get("mode") or usual.get("mode")
        return {**usual, **options_of(str(mode), str(given.get("model"))), **given}

    @property
    def recipe(self) -> Recipe:
        """The part that is about fitting."""
        return Recipe(
            self.epochs, self.batch_size, self.learning_rate, self.weight_decay, self.patience, self.seed,
            self.optimizer, self.schedule, self.clip, self.dropout_epochs, self.warm_up,
        )  # fmt: skip

    def identity(self, corpus: Corpus) -> dict[str, Any]:
        """What determines the trained model: the options, and the contents of the corpus.

        Options that came later are left out where nothing is said: models that were trained before stay known.
        """
        later = {name for name in LATER if getattr(self, name) == type(self).model_fields[name].default}
        by_contents = dict.fromkeys(("data", "data_dir", "columns", "vectors", *later), True)
        named = {name: {"base"} for name in ("opposing", "guiding") if name not in by_contents}
        options = self.model_dump(mode="json", exclude={**by_contents, **named})
        return {**options, "corpus": corpus.checksum, "vectors": self.vectors and vectors_checksum(self.vectors)}

    def called(self, corpus: Corpus) -> str:
        """The name of the folder in a workshop where this training's model is kept."""
        where = "" if self.altered_sites == ("*",) else "-" + re.sub(r"[^a-z0-9_]+", "", "-".join(self.altered_sites))
        return f"{corpus.name.replace(':', '-')}-{self.key(corpus)}-{self.altered}{where}-seed{self.seed}"

    def key(self, corpus: Corpus) -> str:
        """A short name for what is trained, whatever the seed and the alteration."""
        same = {name: value for name, value in self.identity(corpus).items() if name not in OF_ONE_RUN}
        return hashlib.sha256(json.dumps(same, sort_keys=True).encode()).hexdigest()[:8]


@cache
def vectors_checksum(path: Path) -> str:
    """sha256 of a file of word vectors: two files of the same name may hold others."""
    if not path.is_file():
        raise BadData(f"there is no file {path}; expected word vectors in the text format of GloVe or fastText")
    return sha256(path)
