"""Study files: a paper as data. What to train, what to run, and the numbers that were published."""

import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import whence
from whence.core.errors import BadConfig
from whence.options import sentence

Scale = Literal["quick", "full"]
Kind = Literal["single", "pair", "generation"]


class Part(BaseModel):
    """What all parts of a study file have in common: a mistake in it gets a sentence."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Published(Part):
    """One column of one model in the paper's tables: its score, and what alterations change, in points.

    Of a pair the first is *train+infer*, the second *infer*.
    """

    base: float
    sd: float
    uniform: tuple[float, float]
    random: tuple[float, float]
    permuted: float


class Run(Part):
    """How a case is run at one scale: what is trained, from how many seeds (0: no ablation), and its options. Figures
    that want more models than `most` get so many.
    """

    training: dict[str, Any]
    seeds: int = Field(ge=0)
    most: int = Field(100, gt=0)
    ablation: dict[str, Any] = {}


class Case(Part):
    """One model on one corpus. A control has no published numbers. `mode` says what is followed where a paper and its
    authors' code disagree; `why` what is known about a difference, `needs` what is lacking where the full scale cannot
    be run.
    """

    name: str
    table: str = ""
    system: str
    data: str
    kind: Kind = "single"
    mode: str = ""
    published: Published | None = None
    quick: Run | None = None
    full: Run | None = None
    needs: str = ""
    why: str = ""


class Number(Part):
    """A published number that an experiment gives too: `quantity` is what the experiment calls it. What was published
    may be a word that says on which side of zero it lies (`lines.SIDES`), or nothing: then ours is a control.
    `corrected` says why the published one is wrong, if that is known; `where` it stands, if not where the figure does.
    """

    quantity: str
    value: float | Literal["falls", "rises", "true above random"] | None = None
    sd: float | None = None
    system: str = ""
    where: str = ""
    corrected: str = ""


class Picture(Part):
    """A figure or a paragraph of the paper: an experiment on the models of some cases, with options by scale, and the
    numbers that were published of it. Ours count as the same if they are `within` so much. At the full scale it is run
    on models from so many `seeds`. `drawn` names one of the experiment's further figures, in place of its main one.
    With `tabled` the experiment's summary stands in the ledger too.
    """

    name: str
    about: str
    experiment: str
    cases: tuple[str, ...]
    quick: dict[str, Any] = {}
    full: dict[str, Any] = {}
    number: tuple[Number, ...] = ()
    drawn: str = ""
    tabled: bool = False
    seeds: int = Field(1, gt=0)
    within: float = 0.0
    digits: int = 3
    why: str = ""


class Remark(Part):
    """A published number that no case makes: from the text, or from a study with people."""

    where: str
    system: str
    data: str
    metric: str
    value: float
    sd: float | None = None
    status: str
    note: str = ""


class Study(Part):
    """A paper as data."""

    name: str
    paper: str
    title: str
    about: str
    case: tuple[Case, ...]
    figure: tuple[Picture, ...] = ()
    remark: tuple[Remark, ...] = ()

    @property
    def modes(self) -> list[str]:
        """The modes that there are to choose from."""
        return list(dict.fromkeys(case.mode for case in self.case if case.mode))

    def wanted(
        self, scale: Scale, only: str | None = None, mode: str | None = None
    ) -> list[tuple[Case, list[Case | Picture]]]:
        """What is run at a scale: each case with what it is run for, its table and the figures it stands in.

        `only` names a table, a figure, or a case, of which its figures are wanted too; `mode` one of the modes.
        """
        found = []
        for case in self.case:
            if mode is not None and case.mode != mode:
                continue
            run: Run | None = getattr(case, scale)
            figures = [figure for figure in self.figure if case.name in figure.cases]
            of_case: list[Case | Picture] = [case] if run is not None and run.seeds and _meant(case, only) else []
            of_case += [figure for figure in figures if only is None or only.lower() in _names(figure, case)]
            if run is not None and of_case:
                found.append((case, of_case))
        return found

    def refuse_unknown(self, only: str | None, mode: str | None = None) -> None:
        """`only` must be a table, a figure or a case; `mode` one of the modes."""
        if mode is not None and mode not in self.modes:
            raise BadConfig(f"{self.name} has no mode {mode!r}; it has: {', '.join(self.modes) or 'only one'}")
        if only is None:
            return
        there = list(dict.fromkeys([*(c.table for c in self.case if c.table), *(f.name for f in self.figure)]))
        names = [case.name for case in self.case]
        if only.lower() not in (name.lower() for name in (*there, *names)):
            raise BadConfig(
                f"{self.name} has no {only!r}; there are: {', '.join(there)}; or one of: {', '.join(names)}"
            )


def _meant(case: Case, only: str | None) -> bool:
    return only is None or only.lower() in (case.table.lower(), case.name.lower())


def _names(figure: Picture, case: Case) -> tuple[str, str]:
    return figure.name.lower(), case.name.lower()


def folder() -> Path:
    """Where the study files are: in the package, or beside its sources."""
    package = Path(whence.__file__).parent
    return next((f for f in (package / "studies", package.parents[1] / "studies") if f.is_dir()), package / "studies")


def names() -> list[str]:
    """The studies there are."""
    return sorted(file.stem.replace("_", "-") for file in folder().glob("*.toml"))


def read(name: str) -> Study:
    """A study by its name, or from a file of the user's."""
    file = Path(name) if name.endswith(".toml") else folder() / f"{name.replace('-', '_')}.toml"
    if not file.is_file():
        near = get_close_matches(name, names(), n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise BadConfig(
            f"there is no study {name!r}.{hint} There are: {', '.join(names())}; or the path of a .toml file"
        )
    try:
        study = Study(**tomllib.loads(file.read_text(encoding="utf-8")))
    except tomllib.TOMLDecodeError as error:
        raise BadConfig(f"{file} is not TOML: {error}") from error
    except ValidationError as error:
        raise BadConfig(f"{file}: {sentence(error)}") from error
    unknown = {name for figure in study.figure for name in figure.cases} - {case.name for case in study.case}
    if unknown:
        raise BadConfig(f"{file}: figures name cases that are not there: {', '.join(sorted(unknown))}")
    return study
