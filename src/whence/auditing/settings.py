"""What an audit is told."""

from pathlib import Path

from pydantic import Field

from whence.experiments._config import DATA, MODEL, Looking
from whence.experiments._places import Grain


class Settings(Looking):
    """Ask of a model and a table: is this attention an explanation? Without them, of two small models that are trained
    for the purpose, one whose attention matters and one whose attention hardly does.
    """

    model: str | None = Field(None, description=MODEL)
    data: str | None = Field(None, description=DATA)
    out: Path = Field(Path("whence-audit"), description="folder for results, figures and the report")
    budget: float | None = Field(None, gt=0, description="minutes to spend (default: 10; 2 without model and data)")
    grain: Grain = Field("all", description="alter all attention at once, by layer, by head")
    specials: bool = Field(False, description="alter the weight of special tokens too ([CLS], [SEP])")

    @property
    def minutes(self) -> float:
        """The budget, or what is usual."""
        return self.budget or (10.0 if self.model else 2.0)
