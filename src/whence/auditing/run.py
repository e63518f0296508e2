"""Running an audit: prepare, plan, run step by step, and write the report. What is finished stays finished."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whence.auditing.demo_models import SHARES, TRAININGS
from whence.auditing.optional_steps import after_training, further_steps
from whence.auditing.plan import Plan, make_plan, measured
from whence.auditing.settings import Settings
from whence.auditing.write_report import ABOUT, RECORD, write_report
from whence.core.errors import BadConfig, BadData
from whence.data.examples import Corpus, Example
from whence.data.registry import load as load_corpus
from whence.evaluation.checks import refuse_unknown, refuse_unlabelled, refuse_values
from whence.evaluation.runner import run_experiment, split_of
from whence.results.atomic_write import saving, write_json
from whence.results.experiment import experiment
from whence.results.store import Store
from whence.subject.subject import Subject, load, refuse_silent
from whence.training.record import retrainable, training_seconds
from whence.training.train import train_all

Say = Callable[[str], None]
LEAST_SEEDS = 2  # of the embedded models, however slow the machine: retraining decides what they show


@dataclass(frozen=True, eq=False)
class Prepared:
    """One model on one corpus, ready to be audited."""

    name: str
    model: str
    data: str
    subject: Subject
    corpus: Corpus
    split: str
    plan: Plan


def audit(settings: Settings, *, quiet: bool = False, say: Say = print) -> Path:
    """Audit a model on a corpus, and return the path of the report.

    Every finished experiment is on disk before the next begins. An audit that was cut off is taken up where it was by
    running it again.
    """
    store = Store(settings.out)
    parts = [prepared(settings, store, model, data) for model, data in named(settings, store, quiet, say)]
    seconds = sum(part.plan.seconds for part in parts)
    say(f"The plan: {told(parts)}; about {minutes(seconds)} of the {settings.minutes:g} minutes there are.")
    for part in parts:
        for note in (*part.corpus.notes, *part.plan.left_out):
            say(f"  {part.name}: {note}")
    record: dict[str, Any] = {"settings": settings.model_dump(mode="json"), "parts": []}
    for part in parts:
        started = time.perf_counter()
        results = [
            run_step(part, step_number, settings, store, quiet, say) for step_number in range(len(part.plan.steps))
        ]
        model = part.subject.name if settings.model else "A small model, trained by this audit"
        about = ABOUT.format(model=model, task=part.subject.task.about, corpus=part.corpus.name,
                             split=part.split, n=len(part.corpus[part.split]))  # fmt: skip
        record["parts"].append({"name": part.name, "about": about, "results": results, "left_out": part.plan.left_out,
                                "seconds": round(time.perf_counter() - started, 1)})  # fmt: skip
    with saving(settings.out):
        write_json(settings.out / RECORD, record)
    return write_report(settings.out)


def named(settings: Settings, store: Store, quiet: bool, say: Say) -> list[tuple[str, str]]:
    """Which model on which data; without a model, the embedded ones, trained on the spot."""
    if settings.model is not None and settings.data is None:
        raise BadConfig(
            f"the model {settings.model} came without data; expected a table or a corpus after it (`whence data list`)"
        )
    if settings.model is not None and settings.data is not None:
        return [(settings.model, settings.data)]
    if settings.data is not None and settings.data not in TRAININGS:
        raise BadConfig(
            f"data {settings.data} came without a model; expected a folder or hub name before it. Without a model only"
            f" {' and '.join(TRAININGS)} can be audited"
        )
    chosen = [settings.data] if settings.data else list(TRAININGS)
    wanted = []
    for data in chosen:
        corpus = load_corpus(data)
        folder = store.root / "models" / TRAININGS[data].called(corpus)
        wanted.append((TRAININGS[data], folder, corpus))
    say(f"Small models are trained on {' and '.join(chosen)} (or found in {store.root / 'models'}).")
    train_all(wanted, quiet=quiet)
    return [(str(folder), data) for data, (_, folder, _) in zip(chosen, wanted, strict=True)]


def prepared(settings: Settings, store: Store, model: str, data: str) -> Prepared:
    """The corpus read, the model loaded, and the plan made or found again."""
    corpus = load_corpus(data, data_dir=settings.data_dir, columns=settings.columns)
    subject = load(
        model, settings.task, device=settings.device, dtype=settings.dtype, trust_remote_code=settings.trust_remote_code
    )
    refuse_silent(subject, "an audit")
    refuse_values(subject, "an audit")
    split = split_of(corpus, settings)
    examples = corpus[split]
    key = store.key(
        {
            "subject": subject.fingerprint,
            "corpus": corpus.checksum,
            "split": split,
            "granularity": settings.granularity,
            "special_tokens": settings.special_tokens,
            "minutes": settings.minutes,
            "seed": settings.seed,
        }
    )
    saved = store.root / "plans" / f"{key}.json"
    refuse_unknown(examples, subject)
    labelled = marked(examples, subject)
    if labelled:
        refuse_unlabelled(examples, subject, data, "an audit")
    plan = saved_plan(saved)
    if plan is None:
        again, why_not = retrainable(Path(model), corpus)
        training = training_seconds(Path(model)) if again else None
        share = 60 * settings.minutes * (1 if settings.model or settings.data else SHARES[data])
        share -= 0 if settings.model else training or 0  # what the embedded model has taken already
        costs = measured(subject, examples, settings.granularity, training)
        further = further_steps(subject, examples, costs, share)
        left = share - sum(step.seconds for step in further)
        plan = make_plan(costs, len(examples), left, granularity=settings.granularity, labelled=labelled,
                         least=0 if settings.model else LEAST_SEEDS)  # fmt: skip
        plan = after_training(replace(plan, steps=(*plan.steps, *further)), costs, examples, share)
        elsewhere = [name for name, others in corpus.splits.items() if others and marked(others, subject)]
        if not labelled and elsewhere:
            where = f"the split {elsewhere[0]} has them: --split {elsewhere[0]}"
            plan = replace(plan, left_out=(*plan.left_out, where))
        if labelled and why_not:
            plan = replace(plan, left_out=(*plan.left_out, f"models are not trained again: {why_not}"))
        with saving(store.root):
            saved.parent.mkdir(parents=True, exist_ok=True)
            write_json(saved, plan.as_dict())
    name = f"{Path(model).name} on {corpus.name}" if settings.model else data
    return Prepared(name, model, data, subject, corpus, split, plan)


def marked(examples: Sequence[Example], subject: Subject) -> bool:
    """Whether all examples have a right answer."""
    return all(getattr(example, subject.task.needs) is not None for example in examples)


def saved_plan(path: Path) -> Plan | None:
    """The plan that was made before, if there is one."""
    if not path.exists():
        return None
    try:
        return Plan.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError) as error:
        raise BadData(f"the plan {path} is damaged ({error}); delete that file and run again") from error


def run_step(part: Prepared, number: int, settings: Settings, store: Store, quiet: bool, say: Say) -> str:
    """One experiment of the plan; the folder of its result, relative to the audit's."""
    step = part.plan.steps[number]
    say(f"{part.name}: {step.experiment}, {step.why} (about {minutes(step.seconds)})")
    options = {name: value for name, value in step.options.items() if value is not None}
    told = {**settings.evaluation_options(), "split": part.split, "model": part.model, "data": part.data, **options}
    config_of = experiment(step.experiment).config
    if "special_tokens" in config_of.model_fields:
        told["special_tokens"] = settings.special_tokens
    config = config_of(**told)
    result = run_experiment(step.experiment, config, store, subject=part.subject, corpus=part.corpus, quiet=quiet)
    for note in result.manifest["notes"]:
        if note not in part.corpus.notes:
            say(f"  {part.name}: {note}")
    return str(store.folder(step.experiment, result.manifest["identity"]).relative_to(store.root))


def told(parts: list[Prepared]) -> str:
    """The plan in words."""
    steps = [f"{step.experiment} of {step.options.get('limit') or len(part.corpus[part.split])} examples"
             + f" of {part.split}"
             + (f" with {step.options['retrain']} seeds trained again" if step.options.get("retrain") else "")
             + (f" ({part.name})" if len(parts) > 1 else "") for part in parts for step in part.plan.steps]  # fmt: skip
    return ", ".join(steps)


def minutes(seconds: float) -> str:
    """A time in words."""
    whole = max(round(seconds), 1)
    return f"{whole} second{'s' * (whole > 1)}" if seconds < 90 else f"{seconds / 60:.0f} minutes"
