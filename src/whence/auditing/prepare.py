"""Before an audit runs: which model on which corpus, loaded and checked, and the plan made or read."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from whence.annotation.rows import refuse_other_model
from whence.auditing.costs import measure_costs
from whence.auditing.demo_models import SHARES, TRAININGS
from whence.auditing.plan import Plan, fill, refuse_too_little, without_optional
from whence.auditing.settings import Settings
from whence.auditing.wishes import asked_for, matters, of_any_model, trained
from whence.core.errors import BadConfig, BadData
from whence.data.examples import Corpus, Example
from whence.data.registry import load as load_corpus
from whence.evaluation.checks import numbered_labels, refuse_unknown, refuse_unlabelled, refuse_values
from whence.evaluation.chosen_examples import split_of
from whence.results.atomic_write import saving, write_json
from whence.results.store import Store
from whence.subject.subject import Subject, load, refuse_headless
from whence.training.record import retrainable, training_seconds
from whence.training.train import train_all

Say = Callable[[str], None]
LEAST_SEEDS = 2  # of the demo models, however slow the machine: retraining decides what they show
ABOUT = "{model}, which gives {task}, on {corpus} ({n} examples in its split {split})."


@dataclass(frozen=True, eq=False)
class PlannedPart:
    """One model on one corpus, ready to be audited."""

    name: str
    model: str
    data: str
    subject: Subject
    corpus: Corpus
    split: str
    plan: Plan

    @property
    def examples(self) -> Sequence[Example]:
        """The examples of the split that is audited."""
        return self.corpus[self.split]

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """How the corpus was read, and how the model reads its labels."""
        return (*self.corpus.notes, *numbered_labels(self.examples, self.subject))

    def about(self, demo: bool) -> str:
        """A sentence on the model and the corpus."""
        model = "A small model, trained by this audit" if demo else self.subject.name
        return ABOUT.format(
            model=model,
            task=self.subject.task.about,
            corpus=self.corpus.name,
            split=self.split,
            n=len(self.examples),
        )


def models_and_data(settings: Settings, store: Store, quiet: bool, say: Say) -> list[tuple[str, str]]:
    """Which model on which data; without a model, the demo models, trained first."""
    if settings.model is not None and settings.data is None:
        raise BadConfig(
            f"the model {settings.model} came without data; expected a table or a corpus after it (`whence data list`)"
        )
    if settings.model is None and settings.annotations is not None:
        raise BadConfig("annotations are of one model; name it, and its data, before --annotations")
    if settings.model is not None and settings.data is not None:
        return [(settings.model, settings.data)]
    if settings.data is not None and settings.data not in TRAININGS:
        raise BadConfig(
            f"data {settings.data} came without a model; expected a folder or hub name before it. Without a model only"
            f" {' and '.join(TRAININGS)} can be audited"
        )
    return train_demo_models([settings.data] if settings.data else list(TRAININGS), store, quiet, say)


def train_demo_models(names: Sequence[str], store: Store, quiet: bool, say: Say) -> list[tuple[str, str]]:
    """The demo models for these corpora, each with its corpus; what was trained before is kept."""
    corpora = [load_corpus(name) for name in names]
    folders = [
        store.root / "models" / TRAININGS[name].folder_name(corpus) for name, corpus in zip(names, corpora, strict=True)
    ]
    say(f"Demo models are trained on {' and '.join(names)} (or taken from {store.root / 'models'}).")
    trainings = [TRAININGS[name] for name in names]
    train_all(list(zip(trainings, folders, corpora, strict=True)), quiet=quiet)
    return [(str(folder), name) for folder, name in zip(folders, names, strict=True)]


def prepare(settings: Settings, store: Store, model: str, data: str) -> PlannedPart:
    """The corpus read, the model loaded and checked, and the plan made, or read if it was made before."""
    corpus = load_corpus(data, data_dir=settings.data_dir, columns=settings.columns)
    subject = load(
        model, settings.task, device=settings.device, dtype=settings.dtype, trust_remote_code=settings.trust_remote_code
    )
    refuse_headless(subject, "an audit")
    refuse_values(subject, "an audit")
    if settings.annotations is not None:
        refuse_other_model(settings.annotations, subject.fingerprint, subject.name)
    split = split_of(corpus, settings)
    refuse_unknown(corpus[split], subject)
    if labelled(corpus[split], subject):
        refuse_unlabelled(corpus[split], subject, data, "an audit")
    path = plan_path(settings, store, subject, corpus, split)
    plan = saved_plan(path)
    if plan is None:
        plan = new_plan(settings, subject, corpus, split, model, data)
        with saving(store.root):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_json(path, plan.as_dict())
    name = f"{Path(model).name} on {corpus.name}" if settings.model else data
    return PlannedPart(name, model, data, subject, corpus, split, plan)


def plan_path(settings: Settings, store: Store, subject: Subject, corpus: Corpus, split: str) -> Path:
    """Where the plan is saved: by everything that it depends on."""
    own = {
        name: getattr(settings, name)
        for name in ("granularity", "special_tokens", "minutes", "seed", "experiments", "skip")
    }
    own |= {"annotations": str(settings.annotations)} if settings.annotations else {}
    key = store.key({"subject": subject.fingerprint, "corpus": corpus.checksum, "split": split, **own})
    return store.root / "plans" / f"{key}.json"


def new_plan(settings: Settings, subject: Subject, corpus: Corpus, split: str, model: str, data: str) -> Plan:
    """The plan for one model and corpus, from measured costs, with notes on what had to be left out."""
    examples, has_labels = corpus[split], labelled(corpus[split], subject)
    training_of, why_not = retrainable(Path(model), corpus)
    training = training_seconds(Path(model)) if training_of else None
    seconds = 60 * settings.minutes * (1 if settings.model or settings.data else SHARES[data])
    seconds -= 0 if settings.model else training or 0  # what training the demo model took
    costs, n = measure_costs(subject, examples, settings.granularity, training), len(examples)
    least = 0 if settings.model else LEAST_SEEDS
    wishes, left_out = matters(costs, n, seconds, granularity=settings.granularity, labelled=has_labels, least=least)
    seeds = max((int(wish.options.get("retrain") or 0) for wish in wishes), default=0)
    extra, without = asked_for(settings.experiments, has_labels, costs)
    wishes += of_any_model(subject, examples, costs, seconds, labelled=has_labels, annotations=settings.annotations)
    wishes += trained(costs, seeds, seconds)
    wishes = [*(wish for wish in wishes if wish.experiment not in settings.skip), *extra]
    dropped: list[str] = []
    if not settings.force:
        wishes, dropped = without_optional(wishes, n, seconds)
    if not settings.force and settings.model:  # the demo takes as long as it takes
        refuse_too_little(wishes, n, seconds)
    steps = fill(wishes, n, seconds)
    notes = [*without, *(f"no {name}: left out by --skip" for name in settings.skip)]
    elsewhere = [name for name, others in corpus.splits.items() if others and labelled(others, subject)]
    if not has_labels and elsewhere:
        notes.append(f"the split {elsewhere[0]} has them: --split {elsewhere[0]}")
    if has_labels and why_not:
        notes.append(f"models are not retrained: {why_not}")
    return Plan(tuple(steps), (*left_out, *dropped, *notes))


def labelled(examples: Sequence[Example], subject: Subject) -> bool:
    """Whether every example has the label, tags or target that the model's task needs."""
    return all(getattr(example, subject.task.needs) is not None for example in examples)


def saved_plan(path: Path) -> Plan | None:
    """The plan that was made before, if there is one."""
    if not path.exists():
        return None
    try:
        return Plan.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError) as error:
        raise BadData(f"the plan {path} is damaged ({error}); delete that file and run again") from error
