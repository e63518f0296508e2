"""The Python interface: `load`, `corpus`, `explain`, `run`, `audit`, `train`, `reproduce`."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from html import escape
from pathlib import Path
from typing import Any, Literal

from whence.auditing.run import audit as run_audit
from whence.auditing.settings import Settings
from whence.core.errors import BadConfig
from whence.data.examples import Corpus
from whence.data.registry import load as load_corpus
from whence.data.tables.columns import Columns
from whence.evaluation.runner import run_experiment
from whence.explaining.explanation import Explanation, explain_text
from whence.explaining.options import ExplainOptions
from whence.options import checked
from whence.report.overall_answer import Answer
from whence.reproducing.run import Reproduction, RunSettings
from whence.reproducing.run import reproduce as run_reproduction
from whence.results.experiment import experiment
from whence.results.result import Result
from whence.results.store import Store
from whence.results.verdict import QUESTIONS, Verdict
from whence.subject.subject import Subject, load
from whence.training.config import Training
from whence.training.train import train as train_in

__all__ = ["Audit", "Reproduction", "audit", "corpus", "explain", "load", "reproduce", "run", "train"]


@dataclass(frozen=True, eq=False)
class Audit:
    """A finished audit: by part its overall answer and its verdicts on each question, and where its report is."""

    report: Path
    answers: dict[str, Answer]
    verdicts: dict[str, dict[int, Verdict]]

    def __repr__(self) -> str:
        lines = [
            line
            for part, found in self.verdicts.items()
            for line in (
                f"{part}: {self.answers[part].word.upper()}. {self.answers[part].sentence}",
                *(f"  {QUESTIONS[one.question]} {one.answer.upper()}. {one.sentence}" for one in found.values()),
            )
        ]
        return "\n".join([*lines, f"report: {self.report}"])

    def _repr_html_(self) -> str:
        page = escape(self.report.read_text(encoding="utf-8"))  # in a frame: its style is for a whole page
        return f'<iframe srcdoc="{page}" style="width:100%;height:80vh;border:0"></iframe>'


def audit(
    model: Subject | str | Path | None = None, data: str | Path | None = None, *, quiet: bool = False, **options: Any
) -> Audit:
    """Audit a model on a corpus or table; without either, the demo models. `options` are those of `whence audit`.

    Its plan and progress are printed, unless `quiet`.
    """
    if isinstance(model, Subject):
        raise BadConfig(
            "an audit loads the model itself, so that it can be resumed; give it the model's folder or name"
        )
    named = {"model": model and str(model), "data": data and str(data)}
    settings = checked(Settings, {**named, **options})
    finished = run_audit(settings, quiet=quiet, say=(lambda _: None) if quiet else print)
    return Audit(finished.report, finished.answers, finished.verdicts)


def run(
    name: str,
    model: Subject | str | Path | None = None,
    data: str | Path | None = None,
    *,
    out: str | Path | None = None,
    quiet: bool = True,
    **options: Any,
) -> Result:
    """Run one experiment. With `out`, its result is saved there, and taken from there if it was run before.

    Most need a model and data; one that trains its own models (`memory`) needs neither.
    """
    subject = model if isinstance(model, Subject) else None
    called = model if subject is None else subject.name
    named = {"model": called and str(called), "data": data and str(data)}
    config = checked(
        experiment(name).config, {**{key: value for key, value in named.items() if value is not None}, **options}
    )
    return run_experiment(name, config, None if out is None else Store(out), subject=subject, quiet=quiet)


def explain(model: Subject | str | Path, text: str, pair: str | None = None, **options: Any) -> Explanation:
    """Score the tokens of a text by several methods.

    `options` are those of `whence explain`: `methods=("lat", "random")`, `measure`, `target`, `paragraphs`, `words`,
    `summary`, `layer`, `row` and so on. `raw_attention={"layer": 3}` gives options to one method.
    """
    general = {name: value for name, value in options.items() if name in ExplainOptions.model_fields}
    own = {name: value for name, value in options.items() if name not in general}
    for name, value in own.items():
        if not isinstance(value, Mapping):
            there = ", ".join(ExplainOptions.model_fields)
            raise BadConfig(f"explain has no option {name!r}; it has: {there}, and METHOD={{'option': value}}")
    chosen = checked(ExplainOptions, {"pair": pair, "method_options": own, **general})
    return explain_text(model if isinstance(model, Subject) else load(model), text, chosen)


def corpus(name: str | Path, *, data_dir: str | Path | None = None, **columns: str) -> Corpus:
    """Load a corpus by name, or a table by its path; `text="review"` names a column that cannot be inferred."""
    known = [field.name for field in fields(Columns)]
    unknown = sorted(set(columns) - set(known))
    if unknown:
        raise BadConfig(f"a table has no column role {unknown[0]!r}; expected one of: {', '.join(known)}")
    return load_corpus(name, data_dir=data_dir, columns=Columns(**columns))


def train(
    model: str = "additive", data: str | Path = "reviews", *, out: str | Path, quiet: bool = True, **options: Any
) -> Subject:
    """Train a reference model, or fine-tune a saved one, and save it in the folder `out`.

    A finished model is loaded from there; an interrupted training resumes. `options` are those of `whence train`.
    """
    training = checked(Training, {"model": str(model), "data": str(data), **options})
    return train_in(training, Path(out), quiet=quiet)


def reproduce(
    study: str | Path,
    scale: Literal["quick", "full"] = "quick",
    *,
    only: str | None = None,
    mode: str | None = None,
    data_dir: str | Path | None = None,
    device: str = "cpu",
    out: str | Path = "whence-results",
    ledger: str | Path | None = None,
    saved: bool = False,
    quiet: bool = True,
) -> Reproduction:
    """Run a study: the tables and figures of a paper, each published number with ours.

    The options are those of `whence reproduce`. Results are cached in the folder `out`; with `saved`, nothing is run.
    """
    settings = RunSettings(
        str(study),
        scale,
        only,
        mode,
        data_dir=None if data_dir is None else Path(data_dir),
        device=device,
        out=Path(out),
        saved=saved,
        ledger=None if ledger is None else Path(ledger),
        quiet=quiet,
    )
    return run_reproduction(settings, (lambda _: None) if quiet else print)
