"""A paper as data, the form of a study file: what to train, what to run, and the numbers that were published."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from whence.core.errors import BadConfig

Scale = Literal["quick", "full"]


class Part(BaseModel):
    """What all parts of a study file share: unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Run(Part):
    """How a case is run at one scale: its training options, and by experiment the options that differ from those of the
    figure. `max_seeds` limits how often it is trained, whatever a figure asks for.
    """

    training: dict[str, Any]
    options: dict[str, dict[str, Any]] = {}
    max_seeds: int = Field(100, gt=0)


class Case(Part):
    """One model on one corpus.

    `group` is its group in summaries. `mode` says which version is followed where a paper and its authors' code
    disagree. `why` explains a known difference; `needs` says what is missing where the full scale cannot be run.
    """

    name: str
    system: str
    data: str
    group: str = ""
    mode: str = ""
    quick: Run | None = None
    full: Run | None = None
    needs: str = ""
    why: str = ""

    def run_at(self, scale: Scale) -> Run | None:
        """How it is run at a scale, if it is."""
        return self.quick if scale == "quick" else self.full


class Number(Part):
    """A published number, and the `quantity` of the experiment that it is compared with.

    The published value may be a word; then `side` says on which side of zero ours must lie. Without a value ours is a
    control. With `compare = "significance"` the number is a p-value, and only its side of 0.05 counts. `corrected` says
    why the published number is known to be wrong; `where` it was printed, if not in the figure itself; `within` is its
    own tolerance, if not the figure's.
    """

    quantity: str
    value: float | str | None = None
    side: Literal["above 0", "below 0"] | None = None
    sd: float | None = None
    compare: Literal["value", "significance"] = "value"
    system: str = ""
    where: str = ""
    corrected: str = ""
    within: float | None = None

    @model_validator(mode="after")
    def _word_has_side(self) -> "Number":
        if isinstance(self.value, str) and self.side is None:
            raise ValueError(f'the value {self.value!r} is a word; add side = "above 0" or side = "below 0"')
        return self


class FigureSpec(Part):
    """A table, figure or paragraph of the paper: one experiment on the models of some cases.

    Published numbers are in `number`, the same for each case, or, where each case has its own, in `published`: one row
    per case and one column for each of `quantities`, a value or [value, SD]. A case without a row there is a control.
    Ours count as reproduced if they are `within` this much. At the full scale the experiment runs on models from
    `seeds` seeds. `show` says what stands on the page: the experiment's figure (or the further one named by `plot`),
    its summary table, or a list of how each case was run.

    Where the numbers are effects, `smallest` is the smallest one of interest: whether the paper's finding holds is
    decided by its sides. `levels` are quantities that are no effects; the first that a case has is what effects start
    from. `needs` says what no model gives, as the answers of people: such a figure is run only where they are given.
    """

    name: str
    about: str
    experiment: str
    cases: tuple[str, ...]
    quick: dict[str, Any] = {}
    full: dict[str, Any] = {}
    number: tuple[Number, ...] = ()
    quantities: tuple[str, ...] = ()
    published: dict[str, tuple[float | tuple[float, float], ...]] = {}
    show: tuple[Literal["figure", "summary", "runs"], ...] = ("figure",)
    plot: str = ""
    seeds: int = Field(1, gt=0)
    within: float = 0.0
    smallest: float = 0.0
    levels: tuple[str, ...] = ()
    digits: int = 3
    why: str = ""
    needs: str = ""

    def numbers_of(self, case: str) -> tuple[Number, ...]:
        """The published numbers of a case."""
        row = self.published.get(case, ())
        pairs = [cell if isinstance(cell, tuple) else (cell, None) for cell in row]
        own = (Number(quantity=q, value=value, sd=sd) for q, (value, sd) in zip(self.quantities, pairs, strict=False))
        return (*self.number, *own)

    def is_control(self, case: str) -> bool:
        """Whether numbers were published of other cases, and none of this one."""
        return bool(self.published) and case not in self.published

    def options_for(self, run: Run, scale: Scale) -> dict[str, Any]:
        """The experiment's options for a case, retrained at most as often as the case allows."""
        options = {**(self.quick if scale == "quick" else self.full), **run.options.get(self.experiment, {})}
        return {**options, "retrain": min(options["retrain"], run.max_seeds)} if "retrain" in options else options


class Control(Part):
    """What a summary says of a control, with a conclusion: the control loses `much` of what was published (its interval
    is above half of it), `little` (below half), or it is `unclear`.

    Fields of `sentence`: data, system, published, ours, low, high, conclusion.
    """

    sentence: str
    much: str
    little: str
    unclear: str


class RelativeLoss(Part):
    """A summary of ablations by group: which share of the score the `change` takes away, published and ours.

    The published share is the change over the first of `relative_to` that was published of the case.
    """

    kind: Literal["relative loss"]
    name: str
    about: str
    figures: tuple[str, ...]
    change: str
    relative_to: tuple[str, ...]
    group_heading: str = "group"
    control: Control | None = None
    after: str = ""


class ScoreBars(Part):
    """A bar chart of ablations: the first published case of each group, with its own score and with the `change`."""

    kind: Literal["bars"]
    name: str
    about: str
    figures: tuple[str, ...]
    change: str
    labels: tuple[str, str]
    x_label: str
    after: str = ""


class LearningCurve(Part):
    """A score by the number of training examples, with the published one at its own: `sizes` are those of the cases of
    its `figures`, `published` is (examples, score).
    """

    kind: Literal["learning curve"]
    name: str
    about: str
    figures: tuple[str, ...]
    quantity: str
    sizes: dict[str, int]
    published: tuple[int, float]
    x_label: str
    y_label: str
    after: str = ""


Summary = Annotated[RelativeLoss | ScoreBars | LearningCurve, Field(discriminator="kind")]


class Remark(Part):
    """A published number that no case produces: from the text, or from a study with people."""

    where: str
    system: str
    data: str
    metric: str
    value: float
    sd: float | None = None
    status: str
    note: str = ""


class Study(Part):
    """A paper as data. A summary stands on the page `after` the figure it names, else at the end."""

    name: str
    paper: str
    title: str
    about: str
    case: tuple[Case, ...]
    figure: tuple[FigureSpec, ...] = ()
    summary: tuple[Summary, ...] = ()
    remark: tuple[Remark, ...] = ()

    @property
    def modes(self) -> list[str]:
        """The modes to choose from."""
        return list(dict.fromkeys(case.mode for case in self.case if case.mode))

    def select(
        self, scale: Scale, only: str | None = None, mode: str | None = None
    ) -> list[tuple[Case, Run, list[FigureSpec]]]:
        """What is run at a scale: each case, how it is run, and the figures it is run for.

        `only` names a figure, or a case, with all its figures; `mode` one of the modes.
        """
        selected = []
        for case in self.case:
            run = case.run_at(scale)
            if run is None or mode not in (None, case.mode):
                continue
            figures = [figure for figure in self.figure if case.name in figure.cases]
            if only is not None and only.lower() != case.name.lower():
                figures = [figure for figure in figures if figure.name.lower() == only.lower()]
            if figures:
                selected.append((case, run, figures))
        return selected

    def refuse_unknown(self, only: str | None, mode: str | None = None) -> None:
        """`only` must be a figure or a case; `mode` one of the modes."""
        if mode is not None and mode not in self.modes:
            raise BadConfig(f"{self.name} has no mode {mode!r}; it has: {', '.join(self.modes) or 'only one'}")
        figures, cases = [figure.name for figure in self.figure], [case.name for case in self.case]
        if only is not None and only.lower() not in (name.lower() for name in (*figures, *cases)):
            raise BadConfig(
                f"{self.name} has no {only!r}; choose from: {', '.join(figures)}; or one of: {', '.join(cases)}"
            )

    def refuse_dangling(self) -> None:
        """Figures must name cases, and summaries figures, that exist; published rows must be complete."""
        cases, figures = {case.name for case in self.case}, {figure.name for figure in self.figure}
        unknown = {name for figure in self.figure for name in (*figure.cases, *figure.published)} - cases
        if unknown:
            raise BadConfig(f"figures name cases that do not exist: {', '.join(sorted(unknown))}")
        unknown = {name for summary in self.summary for name in (*summary.figures, summary.after) if name} - figures
        if unknown:
            raise BadConfig(f"summaries name figures that do not exist: {', '.join(sorted(unknown))}")
        for figure in self.figure:
            for case, row in figure.published.items():
                if len(row) != len(figure.quantities):
                    raise BadConfig(
                        f"{figure.name}, {case}: expected one published value for each of the {len(figure.quantities)}"
                        f" quantities, got {len(row)}"
                    )
