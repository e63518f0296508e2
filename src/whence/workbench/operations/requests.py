"""What can be asked of the workbench about a text: the same names as in `whence.explain`."""

import hashlib
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from whence.explaining.options import ExplainOptions
from whence.results.to_json import canonical
from whence.subject.subject import Subject

TEXT = 50_000  # characters of a text, at most
NAME = 200
Override = Literal["uniform", "permuted", "random", "temperature", "without", "only", "row", "rows"]


class Asked(BaseModel):
    """A body of a request: unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class LookRequest(Asked):
    """A text to look at, and which of its predictions is explained."""

    model: str = Field("", max_length=NAME, description="the id of a model that is served; empty: the first")
    text: str = Field(max_length=TEXT, description="the text")
    pair: str | None = Field(None, max_length=TEXT, description="the second text, for models that read two")
    target_text: str | None = Field(
        None, max_length=TEXT, description="what a translator is given as its translation; None: it writes one"
    )
    target: str | None = Field(None, max_length=NAME, description="the class to explain, or a model's next word")
    against: str | None = Field(None, max_length=NAME, description="why the target and not this class or word")
    at: str | None = Field(None, max_length=NAME, description="which word of a translation, or which word's tag")
    measure: Literal["probability", "logit", "margin"] = Field("margin", description="what is explained")

    def options(self, subject: Subject, methods: tuple[str, ...] = ("random",), words: bool = False) -> ExplainOptions:
        """The same as options of an explanation."""
        target = self.target_text if subject.task.needs == "target" else self.target
        return ExplainOptions(
            pair=self.pair,
            target=target,
            against=self.against,
            at=self.at,
            measure=self.measure,
            methods=methods,
            words=words,
            summary=False,
        )


class EditOptions(Asked):
    """Numbers of an override; each override takes its own."""

    seed: int = Field(0, ge=0, le=2**31, description="permuted, random: random seed")
    degrees: float = Field(1.0, gt=0, le=1e6, description="temperature: above one flatter, below one sharper")
    tokens: tuple[int, ...] = Field((), description="without, only: places of keys")
    query: int = Field(0, ge=0, description="row: the place of the query; rows: of the first one")
    weights: list[Any] = Field([], description="row: a weight for each key; rows: [head query key]")
    queries: tuple[int, ...] | None = Field(None, description="the rows that change; None: all")
    special: bool = Field(False, description="also change the weight of special tokens")


class Edit(Asked):
    """A change of attention: where, and what replaces the weights."""

    stack: str = Field(max_length=NAME, description="the id of a stack of layers")
    layers: tuple[int, ...] | None = Field(None, description="None: all")
    heads: tuple[int, ...] | None = Field(None, description="None: all")
    override: Override
    options: EditOptions = EditOptions()


def content_id(*parts: Any) -> str:
    """A name made of content: the same parts have the same name."""
    plain = [part.model_dump(mode="json") if isinstance(part, BaseModel) else part for part in parts]
    return hashlib.sha256(canonical({"parts": plain}).encode()).hexdigest()[:20]
