"""A study as data, the form of its file: models × data × seeds × runs, with sweeps and exclusions."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from whence.core.errors import BadConfig
from whence.data.formats.text import read_text
from whence.options import sentence

Options = dict[str, Any]
Patterns = tuple[str, ...]


def _seeds(given: Any) -> Any:
    """A number of seeds, counted from 0, or the seeds themselves."""
    return tuple(range(given)) if isinstance(given, int) and not isinstance(given, bool) else given


Seeds = Annotated[tuple[int, ...], BeforeValidator(_seeds), Field(min_length=1)]


class Part(BaseModel):
    """What all parts of a study file share: unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Model(Part):
    """A model that is trained (`training`: its options, `model` among them), or a `saved` one: a folder or hub name.

    `architecture` is its group when studies are compared; `seeds` replaces the study's.
    """

    training: Options | None = None
    saved: str = ""
    architecture: str = ""
    seeds: Seeds | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> "Model":
        if (self.training is None) == (not self.saved):
            raise ValueError("a model has either `training` (its options) or `saved` (a folder or hub name)")
        return self


class Data(Part):
    """A corpus: `data` is its name, a table or hub:NAME; `type` its group when studies are compared.

    `training` are options for all trainings on it, `options` for all runs on it.
    """

    data: str
    type: str = ""
    training: Options = {}
    options: Options = {}


class Run(Part):
    """An experiment (by default that of the run's own name) with its options, in so many shards of examples."""

    experiment: str = ""
    options: Options = {}
    shards: int = Field(1, gt=0)


class Sweep(Part):
    """Options with several values each, tried in every combination, for the models or runs whose names match."""

    models: Patterns = ("*",)
    runs: Patterns = ("*",)
    training: dict[str, list[Any]] = {}
    options: dict[str, list[Any]] = {}

    @model_validator(mode="after")
    def _sweeps_something(self) -> "Sweep":
        if not self.training and not self.options:
            raise ValueError("a sweep names options with lists of values, under `training` or `options`")
        return self


class Exclude(Part):
    """What is left out: everything that all the given patterns match."""

    model: str = "*"
    data: str = "*"
    run: str = "*"
    seed: int | None = None


class Needed(Part):
    """What a task needs of the machine that runs it; memory in bytes."""

    cpus: int = Field(1, gt=0)
    gpus: float = Field(0.0, ge=0)
    memory: int = Field(0, ge=0)


class Resources(Part):
    """What trainings and runs need."""

    train: Needed = Needed()
    run: Needed = Needed()


class Grid(Part):
    """A study. `training` and `options` hold for all trainings and all runs."""

    name: str = Field(pattern=r"^[\w.-]+$")
    about: str = ""
    seeds: Seeds = (0,)
    training: Options = {}
    options: Options = {}
    models: dict[str, Model] = Field(min_length=1)
    data: dict[str, Data] = Field(min_length=1)
    runs: dict[str, Run] = {}
    sweeps: dict[str, Sweep] = {}
    exclude: tuple[Exclude, ...] = ()
    resources: Resources = Resources()

    @field_validator("data", mode="before")
    @classmethod
    def _by_name(cls, given: Any) -> Any:
        """`reviews = {}` is the corpus reviews."""
        if not isinstance(given, dict):
            return given
        return {
            name: {"data": name, **one} if isinstance(one, dict) and "data" not in one else one
            for name, one in given.items()
        }

    @model_validator(mode="after")
    def _patterns_match(self) -> "Grid":
        for one in self.exclude:
            for pattern, names in ((one.model, self.models), (one.data, self.data), (one.run, self.runs)):
                if pattern != "*" and not any(fnmatchcase(name, pattern) for name in names):
                    raise ValueError(f"exclude names {pattern!r}, which matches none of: {', '.join(names)}")
        return self

    def excludes(self, model: str, data: str, seed: int, run: str | None = None) -> bool:
        """Whether a training, or a run of it, is left out."""
        return any(
            fnmatchcase(model, one.model)
            and fnmatchcase(data, one.data)
            and one.seed in (None, seed)
            and (one.run == "*" or (run is not None and fnmatchcase(run, one.run)))
            for one in self.exclude
        )


@dataclass(frozen=True)
class Variant:
    """A model or run with the values that sweeps give some of its options."""

    name: str
    values: tuple[tuple[str, Any], ...] = ()

    @property
    def label(self) -> str:
        """Its name, with the values after it."""
        return "".join([self.name, *(f" {option}={value}" for option, value in self.values)])


def variants(grid: Grid, name: str, of: str) -> Iterator[Variant]:
    """The variants of a model (`of` is "training") or of a run (`of` is "options"), by the sweeps that match it."""
    swept: dict[str, list[Any]] = {}
    for sweep in grid.sweeps.values():
        patterns = sweep.models if of == "training" else sweep.runs
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            swept |= getattr(sweep, of)
    for values in product(*swept.values()):
        yield Variant(name, tuple(zip(swept, values, strict=True)))


def read_grid(file: Path) -> Grid:
    """The study in a file."""
    if not file.is_file():
        raise BadConfig(f"there is no file {file}; expected a study (.toml), see docs/scale.md")
    try:
        return Grid(**tomllib.loads(read_text(file)))
    except tomllib.TOMLDecodeError as error:
        raise BadConfig(f"{file} is not TOML: {error}") from error
    except ValidationError as error:
        raise BadConfig(f"{file}: {sentence(error)}") from error
