"""What every experiment's `Config` begins with: which model, which examples, how."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from whence.data.tables.columns import Columns
from whence.options import usually

ELSEWHERE = {"model", "data", "data_dir", "columns", "device", "trust_remote_code"}
MODEL = "folder of a saved model (save_pretrained), or a hub name"
DATA = "table (CSV, TSV, JSONL, Parquet), name of a corpus (`whence data list`), or hub:NAME"


class Looking(BaseModel):
    """How to look at a model: what an experiment and a whole audit are told alike."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    columns: Columns = Field(Columns(), description="names of the table's columns, where they cannot be guessed")
    split: Annotated[str | None, usually("test, else dev, else the only one", "NAME")] = Field(
        None, description="split to look at"
    )
    task: Annotated[
        Literal["sequence-classification", "token-classification", "seq2seq", "causal-lm", "series"] | None,
        usually("what it was saved for", "sequence-classification|token-classification|seq2seq|causal-lm|series"),
    ] = Field(None, description="what the model does")
    data_dir: Annotated[Path | None, usually("$WHENCE_DATA", "PATH")] = Field(
        None, description="folder with the native corpora"
    )
    device: str = Field("cpu", description="where to run: cpu, cuda, cuda:1, mps")
    dtype: Literal["float32", "float16", "bfloat16", "float64"] = Field("float32", description="precision of the model")
    batch_size: int = Field(32, gt=0, description="texts at a time")
    trust_remote_code: bool = Field(False, description="run Python code that comes with the model")
    seed: int = Field(0, ge=0, description="everything random follows from it")

    def looking(self) -> dict[str, Any]:
        """These options alone, to tell them on."""
        return {name: getattr(self, name) for name in Looking.model_fields}

    @property
    def retrains(self) -> bool:
        """Whether the given model is to be retrained, which only models that Whence trained can be."""
        return False


class Run(Looking):
    """A model, a corpus, and how many of its examples."""

    model: str = Field(description=MODEL)
    data: str = Field(description=DATA)
    limit: Annotated[int | None, usually("all", "INT")] = Field(
        None, gt=1, description="look at so many examples at most, drawn by the seed"
    )

    def cache_key(self) -> dict[str, Any]:
        """What determines the numbers, apart from the model and the corpus, which are known by their contents."""
        return self.model_dump(mode="json", exclude=ELSEWHERE)


class Taught(Looking):
    """A corpus, some of its examples, and models that the experiment trains itself; perhaps one more beside them."""

    data: str = Field(description=DATA)
    model: Annotated[str | None, usually("none", "FOLDER")] = Field(
        None, description=f"look also at this one, trained on the same corpus: {MODEL}"
    )
    limit: Annotated[int | None, usually("all", "INT")] = Field(
        None, gt=1, description="look at so many examples at most, drawn by the seed"
    )

    def cache_key(self) -> dict[str, Any]:
        """What determines the numbers, apart from the model that is given and the corpus, known by their contents."""
        return self.model_dump(mode="json", exclude=ELSEWHERE)


class Altering(Run):
    """What experiments that alter attention are told alike: where, and how a translator's answers are marked."""

    sites: tuple[str, ...] = Field(("*",), min_length=1, description="where: names of sites, or patterns (*cross*)")
    specials: bool = Field(False, description="alter the weight of special tokens too ([CLS], [SEP])")
    decoding: Literal["free", "forced"] = Field(
        "free",
        description="translators: write freely, marked by BLEU; or be given the target so far, marked by right tokens",
    )
    beams: int = Field(1, gt=0, description="translators: beams of the search when writing freely (1: greedy)")


class Opposed(Altering):
    """What it takes to train opponents of a model."""

    strengths: tuple[float, ...] = Field((0.25, 1.0), min_length=1, description="λ, on the divergence of the attention")
    seeds: int = Field(1, gt=0, description="adversaries for each λ, from other beginnings")
    distance: Literal["hard", "tvd", "kl"] = Field(
        "tvd",
        description="of answers: negative log-likelihood of the base's choice, total variation, or KL(base ‖ own)",
    )
    divergence: Literal["jsd", "kl", "kl_from_base"] = Field(
        "jsd", description="of attention: JSD, KL(own ‖ base), or KL(base ‖ own)"
    )
    averaged: Literal["rows", "cells", "sums"] = Field(
        "rows", description="over real rows; over all cells, as Yang 2019; or sums, as Wiegreffe & Pinter"
    )
    start: Literal["scratch", "base"] = Field("scratch", description="from new weights, or from the base model's")
    dropped: bool = Field(False, description="look at weights after dropout in training, as Yang 2019's code does")
    chosen_by: Literal["loss", "score"] = Field(
        "loss",
        description="which epoch is kept: by the loss on dev, or by the score (Yang 2019's code)",
    )


class Scoring(Run):
    """What experiments that score the words of a corpus are told alike: by which explainers."""

    method: tuple[str, ...] = Field(
        ("lat", "gradient_squared", "random"), min_length=1,
        description="explainers, by name (`whence list`); the first one decides",
    )  # fmt: skip
    options: Annotated[tuple[str, ...], usually("none", "[METHOD.OPTION=VALUE ...]")] = Field(
        (), description="their options, as in lat.normalize=l1 raw_attention.layer=0"
    )

    @field_validator("method")
    @classmethod
    def _once(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        """Names as the files have them, each once."""
        return tuple(dict.fromkeys(name.replace("-", "_") for name in given))
