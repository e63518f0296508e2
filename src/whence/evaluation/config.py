"""What the `Config` of an experiment begins with: which model, which examples, and how they are evaluated."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from whence.data.tables.columns import Columns
from whence.options import usually

MODEL = "folder of a saved model (save_pretrained), or a hub name"
DATA = "table (CSV, TSV, JSONL, Parquet), name of a corpus (`whence data list`), or hub:NAME"
SPECIAL_TOKENS = "also replace the attention on special tokens ([CLS], [SEP])"
AUTO_BATCH = 32  # texts, to begin with
NOT_IN_CACHE_KEY = {
    "model",
    "data",
    "data_dir",
    "columns",
    "device",
    "trust_remote_code",
    "leave_out",
}  # contents are hashed instead


class EvaluationOptions(BaseModel):
    """How a model is evaluated: the options that a single experiment and a whole audit share."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    columns: Columns = Field(Columns(), description="names of the table's columns, where they cannot be inferred")
    split: Annotated[str | None, usually("test, else dev, else the only one", "NAME")] = Field(
        None, description="split to evaluate on"
    )
    task: Annotated[
        Literal["sequence-classification", "token-classification", "seq2seq", "causal-lm", "series"] | None,
        usually("what it was saved for", "sequence-classification|token-classification|seq2seq|causal-lm|series"),
    ] = Field(None, description="the model's task")
    data_dir: Annotated[Path | None, usually("$WHENCE_DATA", "PATH")] = Field(
        None, description="folder with the native corpora"
    )
    device: str = Field("cpu", description="where to run: auto (the best there is), cpu, cuda, cuda:1, mps")
    dtype: Literal["float32", "float16", "bfloat16", "float64"] = Field("float32", description="precision of the model")
    autocast: Literal["none", "bfloat16", "float16"] = Field(
        "none", description="run matrix products in this precision where torch holds it safe"
    )
    batch_size: Annotated[Annotated[int, Field(gt=0)] | Literal["auto"], usually("32", "INT|auto")] = Field(
        32, description=f"texts per batch; auto begins with {AUTO_BATCH} and halves them when memory runs out"
    )
    trust_remote_code: bool = Field(False, description="run Python code that comes with the model")
    seed: int = Field(0, ge=0, description="random seed")

    @property
    def first_batch_size(self) -> int:
        """The texts per batch to begin with."""
        return AUTO_BATCH if self.batch_size == "auto" else self.batch_size

    def evaluation_options(self) -> dict[str, Any]:
        """These options alone, to pass them on."""
        return {name: getattr(self, name) for name in EvaluationOptions.model_fields}


class CorpusOptions(EvaluationOptions):
    """The corpus of an experiment, and how many of its examples are evaluated."""

    data: str = Field(description=DATA)
    limit: Annotated[int | None, usually("all", "INT")] = Field(
        None, gt=1, description="evaluate at most N sampled examples"
    )

    @property
    def retrains(self) -> bool:
        """Whether the given model is retrained, which only a model that Whence trained can be."""
        return False

    def cache_key(self) -> dict[str, Any]:
        """What determines the numbers, apart from the model and the corpus, whose contents are hashed."""
        as_before = {"autocast"} if self.autocast == "none" else set()  # an option that came later
        return self.model_dump(mode="json", exclude=NOT_IN_CACHE_KEY | as_before)


class ExperimentConfig(CorpusOptions):
    """An experiment on a given model and a corpus."""

    model: str = Field(description=MODEL)


class TrainingExperimentConfig(CorpusOptions):
    """An experiment that trains its own models on a corpus; perhaps a given model is evaluated too."""

    model: Annotated[str | None, usually("none", "FOLDER")] = Field(
        None, description=f"also evaluate this model, trained on the same corpus: {MODEL}"
    )


class AblationConfig(ExperimentConfig):
    """An experiment that replaces attention: where, and how a translator's output is scored."""

    sites: tuple[str, ...] = Field(("*",), min_length=1, description="where: names of sites, or patterns (*cross*)")
    special_tokens: bool = Field(False, description=SPECIAL_TOKENS)
    decoding: Literal["free", "forced"] = Field(
        "free",
        description="translators: decode freely, scored by BLEU; or with the target so far given, scored by accuracy",
    )
    beams: int = Field(1, gt=0, description="translators: beams of free decoding (1: greedy)")


class AdversarialConfig(AblationConfig):
    """An experiment that trains adversaries of a model."""

    strengths: tuple[float, ...] = Field(
        (0.25, 1.0),
        min_length=1,
        description="λ, on the divergence of the attention (twice Wiegreffe & Pinter's λ for the same weight)",
    )
    seeds: int = Field(1, gt=0, description="adversaries for each λ, from different initialisations")
    distance: Literal["hard", "tvd", "kl"] = Field(
        "tvd",
        description="of predictions: negative log-likelihood of the base's class, total variation, or KL(base ‖ own)",
    )
    divergence: Literal["jsd", "kl", "kl_from_base"] = Field(
        "jsd", description="of attention: JSD, KL(own ‖ base), or KL(base ‖ own)"
    )
    average_over: Literal["rows", "cells", "sums"] = Field(
        "rows", description="over real rows; over all cells, as Yang 2019; or sums, as Wiegreffe & Pinter"
    )
    start: Literal["scratch", "base"] = Field("scratch", description="from new weights, or from the base model's")
    after_dropout: bool = Field(
        False, description="in training compare weights after dropout, as Yang 2019's code does"
    )
    select_by: Literal["loss", "score"] = Field(
        "loss", description="which epoch is kept: by the loss on dev, or by the score (Yang 2019's code)"
    )


class AttributionConfig(ExperimentConfig):
    """An experiment that scores the words of a corpus by explainers."""

    method: tuple[str, ...] = Field(
        ("lat", "gradient_squared", "random"),
        min_length=1,
        description="explainers, by name (`whence list`); the first one decides",
    )
    options: Annotated[tuple[str, ...], usually("none", "[METHOD.OPTION=VALUE ...]")] = Field(
        (), description="their options, as in lat.normalize=l1 raw_attention.layer=0"
    )

    @field_validator("method")
    @classmethod
    def _unique(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        """Registered names, each once."""
        return tuple(dict.fromkeys(name.replace("-", "_") for name in given))
