"""What an audit is told."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from whence.data.columns import Columns

TASK = Literal["sequence-classification", "token-classification", "seq2seq", "causal-lm"]


class Settings(BaseModel):
    """Ask of a model and a table: is this attention an explanation? Without them, of two small models that are trained
    for the purpose, one whose attention matters and one whose attention hardly does.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str | None = Field(None, description="folder of a saved model (save_pretrained), or a hub name")
    data: str | None = Field(
        None, description="table (CSV, TSV, JSONL, Parquet), corpus (`whence data list`), hub:NAME"
    )
    out: Path = Field(Path("whence-audit"), description="folder for results, figures and the report")
    budget: float | None = Field(None, gt=0, description="minutes to spend (default: 10; 2 without model and data)")
    columns: Columns = Field(Columns(), description="names of the table's columns, where they cannot be guessed")
    split: str | None = Field(None, description="split to look at (default: test, or the only one)")
    task: TASK | None = Field(None, description="what the model does (default: what it was saved for)")
    grain: Literal["all", "layer", "head"] = Field("all", description="alter all attention at once, by layer, by head")
    specials: bool = Field(False, description="alter the weight of special tokens too ([CLS], [SEP])")
    data_dir: Path | None = Field(None, description="folder with the native corpora (default: $WHENCE_DATA)")
    device: str = Field("cpu", description="where to run: cpu, cuda, cuda:1, mps")
    dtype: Literal["float32", "float16", "bfloat16", "float64"] = Field("float32", description="precision of the model")
    batch_size: int = Field(32, gt=0, description="texts at a time")
    trust_remote_code: bool = Field(False, description="run Python code that comes with the model")
    seed: int = Field(0, ge=0, description="everything random follows from it")

    @property
    def minutes(self) -> float:
        """The budget, or what is usual."""
        return self.budget or (10.0 if self.model else 2.0)
