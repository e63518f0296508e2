"""The verbs, for Python and notebooks: `load`, `explain`, `run`, `audit`."""

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from whence.attribution.registry import USUAL
from whence.auditing.run import audit as run_audit
from whence.auditing.settings import Settings
from whence.auditing.write_report import answers
from whence.core.errors import BadConfig
from whence.evaluation.runner import perform
from whence.explaining.explanation import Explanation, explain_text
from whence.options import checked
from whence.results.experiment import experiment
from whence.results.result import Result
from whence.results.store import Store
from whence.results.verdict import QUESTIONS, Verdict
from whence.subject.subject import Subject, load
from whence.subject.targets import Measure

__all__ = ["Audit", "audit", "explain", "load", "run"]


@dataclass(frozen=True, eq=False)
class Audit:
    """A finished audit: its verdicts by part and question, and where its report is."""

    report: Path
    verdicts: dict[str, dict[int, Verdict]]

    def __repr__(self) -> str:
        lines = [
            f"{part}: {QUESTIONS[number]} {verdict.answer.upper()}. {verdict.sentence}"
            for part, found in self.verdicts.items()
            for number, verdict in found.items()
        ]
        return "\n".join([*lines, f"report: {self.report}"])

    def _repr_html_(self) -> str:
        page = escape(self.report.read_text(encoding="utf-8"))  # in a frame: its style is for a whole page
        return f'<iframe srcdoc="{page}" style="width:100%;height:80vh;border:0"></iframe>'


def audit(
    model: Subject | str | Path | None = None, data: str | Path | None = None, *, quiet: bool = True, **options: Any
) -> Audit:
    """Audit a model on a corpus or table; without either, the embedded ones. `options` are those of `whence audit`."""
    if isinstance(model, Subject):
        raise BadConfig("an audit loads its model by itself, to be taken up again; give it the model's folder or name")
    named = {"model": model and str(model), "data": data and str(data)}
    settings = checked(Settings, {**named, **options})
    report = run_audit(settings, quiet=quiet, say=(lambda _: None) if quiet else print)
    return Audit(report, answers(settings.out))


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
    return perform(name, config, None if out is None else Store(out), subject=subject, quiet=quiet)


def explain(
    model: Subject | str | Path,
    text: str,
    pair: str | None = None,
    *,
    methods: tuple[str, ...] | list[str] = USUAL,
    measure: Measure | str = "probability",
    target: str | None = None,
    paragraphs: bool = False,
    summary: bool = True,
    words: bool = False,
    **options: dict[str, Any],
) -> Explanation:
    """Score the tokens of a text by several methods; `raw_attention={"layer": 3}` passes options to one of them.

    With `paragraphs` a text of any length is read paragraph by paragraph; `summary` says which heads carry the answer;
    with `words` the pieces of a word are one token.
    """
    subject = model if isinstance(model, Subject) else load(model)
    return explain_text(subject, text, pair, tuple(methods), measure, options, target, paragraphs, summary, words)
