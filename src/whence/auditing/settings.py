"""The options of an audit."""

from pathlib import Path
from typing import Annotated

from pydantic import Field
from tyro.conf import Positional

from whence.evaluation.config import DATA, MODEL, SPECIAL_TOKENS, EvaluationOptions
from whence.evaluation.locations import Granularity
from whence.options import usually


class Settings(EvaluationOptions):
    """Audit a model on a table: is its attention an explanation? Without a model, two small demo models are trained,
    one whose attention matters and one whose attention hardly does.
    """

    model: Annotated[Positional[str | None], usually("demo models", "[MODEL]")] = Field(None, description=MODEL)
    data: Annotated[Positional[str | None], usually("demo corpora", "[DATA]")] = Field(None, description=DATA)
    out: Path = Field(Path("whence-audit"), description="folder for results, figures and the report")
    budget: Annotated[float | None, usually("10; 2 without model and data", "FLOAT")] = Field(
        None, gt=0, description="minutes to spend"
    )
    force: bool = Field(False, description="run even if the budget is too small for a sensible audit")
    granularity: Granularity = Field(
        "all", description="replace all attention at once, layer by layer, or head by head"
    )
    special_tokens: bool = Field(False, description=SPECIAL_TOKENS)
    experiments: Annotated[tuple[str, ...], usually("none", "[NAME ...]")] = Field(
        (), description="further experiments to run (`whence list`, or module:object)"
    )

    annotations: Annotated[Path | None, usually("none", "FOLDER")] = Field(
        None, description="a study of this model that people have answered (`whence annotate`), for question 6"
    )
    skip: Annotated[tuple[str, ...], usually("none", "[NAME ...]")] = Field(
        (), description="experiments to leave out (controls takes longest to begin with)"
    )

    @property
    def minutes(self) -> float:
        """The budget, or the default."""
        return self.budget or (10.0 if self.model else 2.0)
