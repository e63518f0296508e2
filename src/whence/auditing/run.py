"""Running an audit: prepare, plan, run step by step, and write the report. Finished steps are not run again."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from whence.auditing.audited import RECORD, AuditedPart, FinishedAudit
from whence.auditing.examples import report_examples
from whence.auditing.plan import Step
from whence.auditing.prepare import PlannedPart, Say, models_and_data, prepare
from whence.auditing.settings import Settings
from whence.auditing.write_report import report_page
from whence.evaluation.runner import run_experiment
from whence.report.page import write
from whence.report.page_model import TextExample
from whence.results.atomic_write import saving, write_json
from whence.results.experiment import experiment
from whence.results.result import Result
from whence.results.store import Store


def audit(settings: Settings, *, quiet: bool = False, say: Say = print) -> FinishedAudit:
    """Audit a model on a corpus and write the report.

    Every finished experiment is on disk before the next begins, so an interrupted audit resumes when it is run again.
    The record, by which a folder counts as a finished audit, is written last, when the report could be made.
    """
    store = Store(settings.out)
    parts = [prepare(settings, store, model, data) for model, data in models_and_data(settings, store, quiet, say)]
    seconds = sum(part.plan.seconds for part in parts)
    takes = f"about {describe_time(seconds)} of the {settings.minutes:g} minutes there are"
    say(f"The plan: {describe_plan(parts)}; {takes}.")
    for part in parts:
        for note in (*part.notes, *part.plan.left_out):
            say(f"  {part.name}: {note}")
    record: dict[str, Any] = {"settings": settings.model_dump(mode="json"), "parts": []}
    audited = []
    left = seconds
    for part in parts:
        started = time.perf_counter()
        results = []
        for step in part.plan.steps:
            say(f"{part.name}: {step.experiment}, {step.why} ({describe_left(step.seconds, left)})")
            results.append(run_step(part, step, settings, store, quiet, say))
            left -= step.seconds
        about, examples = part.about(settings.model is None), text_examples(part, results)
        audited.append(AuditedPart(part.name, about, results, part.plan.left_out, examples))
        record["parts"].append(recorded(audited[-1], store, time.perf_counter() - started))
    finished = FinishedAudit(settings.out, audited)
    page = report_page(finished)
    with saving(settings.out):
        write_json(settings.out / RECORD, record)
    write(finished.report, page)
    return finished


def describe_left(step: float, whole: float) -> str:
    """How long a step takes, and how long it and all that come after it do; by the plan."""
    rest = "" if whole - step < 1 else f"; {describe_time(whole)} left in all"
    return f"about {describe_time(step)}{rest}"


def recorded(part: AuditedPart, store: Store, seconds: float) -> dict[str, Any]:
    """A part as plain values: the folders of its results, relative to the audit's."""
    folders = [store.folder(result.experiment, result.manifest["cache_key"]) for result in part.results]
    return {
        "name": part.name,
        "about": part.about,
        "results": [str(folder.relative_to(store.root)) for folder in folders],
        "left_out": part.left_out,
        "notes": part.notes,
        "examples": [asdict(one) for one in part.examples],
        "seconds": round(seconds, 1),
    }


def text_examples(part: PlannedPart, results: Sequence[Result]) -> list[TextExample]:
    """Texts to show in the report, where the faithfulness of explainers was measured."""
    for result in results:
        if result.experiment == "faithfulness":
            return report_examples(result.table, part.subject, part.examples)
    return []


def run_step(part: PlannedPart, step: Step, settings: Settings, store: Store, quiet: bool, say: Say) -> Result:
    """The result of one step of the plan: from the store if it was run before."""
    options = {name: value for name, value in step.options.items() if value is not None}
    given = {**settings.evaluation_options(), "split": part.split, "model": part.model, "data": part.data, **options}
    config_class = experiment(step.experiment).config
    if "special_tokens" in config_class.model_fields:
        given["special_tokens"] = settings.special_tokens
    config = config_class(**given)
    result = run_experiment(step.experiment, config, store, subject=part.subject, corpus=part.corpus, quiet=quiet)
    for note in result.manifest["notes"]:
        if note not in part.notes:
            say(f"  {part.name}: {note}")
    return result


def describe_plan(parts: Sequence[PlannedPart]) -> str:
    """The plan in words."""
    return ", ".join(describe_step(part, step, len(parts) > 1) for part in parts for step in part.plan.steps)


def describe_step(part: PlannedPart, step: Step, named: bool) -> str:
    """One step of the plan in words, with the part's name if there are several."""
    words = f"{step.experiment} of {step.options.get('limit') or len(part.examples)} examples of {part.split}"
    if step.options.get("retrain"):
        words += f" with {step.options['retrain']} seeds retrained"
    return f"{words} ({part.name})" if named else words


def describe_time(seconds: float) -> str:
    """A time in words."""
    whole = max(round(seconds), 1)
    return f"{whole} second{'s' * (whole > 1)}" if seconds < 90 else f"{seconds / 60:.0f} minutes"
