"""The workbench itself: models that are loaded once, each with its worker; a corpus; and a folder for audits."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from whence.attribution.registry import EXPLAINERS, names
from whence.core.errors import BadConfig, WhenceError
from whence.data.examples import Corpus, Example
from whence.subject.subject import Subject
from whence.workbench.jobs import Job, Jobs, Stopped, stepwise
from whence.workbench.looks import Looks
from whence.workbench.operations.described import describe_model, reads_pairs
from whence.workbench.operations.looking import Check, Look, complete, look
from whence.workbench.operations.overrides import overrides_for
from whence.workbench.operations.requests import Edit, LookRequest, content_id
from whence.workbench.worker import WAITING, Busy, Worker

AT_ONCE = 16  # jobs


@dataclass(frozen=True, eq=False)
class Served:
    """A model that is served."""

    id: str
    subject: Subject
    worker: Worker

    @cached_property
    def stacks(self) -> list[dict[str, Any]]:
        """Its stacks of layers, seen on a short text; run by the worker."""
        pair = "a" if reads_pairs(self.subject) else None
        try:
            seen = look(self.subject, complete(self.subject, LookRequest(text="a", pair=pair)), "")
        except WhenceError:  # a model may refuse this text: its stacks are then seen with the first real one
            return []
        return [stack.as_dict() for stack in seen.stacks]

    def about(self) -> dict[str, Any]:
        """What a page needs to know of it."""
        return describe_model(self.subject, self.id, self.stacks)


@dataclass(eq=False)
class Workbench:
    """All that the server holds."""

    served: dict[str, Served]
    folder: Path
    corpus: Corpus | None = None
    split: str = ""
    data: str = ""  # as the user named it
    settings: dict[str, Any] = field(default_factory=dict)  # further settings of audits: columns, task, device
    looks: Looks = field(default_factory=Looks)
    jobs: Jobs = field(default_factory=Jobs)
    tables: dict[str, Any] = field(default_factory=dict)  # of examples, by model

    def model(self, name: str) -> Served:
        """A model by its id; the first if none is named."""
        if not name:
            return next(iter(self.served.values()))
        if name not in self.served:
            raise BadConfig(f"no model {name!r} is served; choose from: {', '.join(self.served)}")
        return self.served[name]

    @property
    def examples(self) -> Sequence[Example]:
        """The examples of the corpus that are shown; none without a corpus."""
        return () if self.corpus is None else self.corpus[self.split]

    @cached_property
    def methods(self) -> dict[str, str]:
        """The explainers that may be asked for, with what each scores by: only those that are installed."""
        return {name: EXPLAINERS.about(name) for name in names()}

    def look(self, request: LookRequest, edits: tuple[Edit, ...] = (), check: Check = lambda: None) -> Look:
        """A look at a text, from memory if it is there. Runs the model: call it in the model's worker."""
        served = self.model(request.model)
        request = complete(served.subject, request.model_copy(update={"model": served.id}))
        name = content_id(served.subject.fingerprint, request, list(map(Edit.model_dump, edits)))
        held = self.looks.get(name)
        if held is not None:
            return held
        rules = overrides_for(served.subject, self.look(request, check=check), edits) if edits else []
        return self.looks.put(look(served.subject, request, name, edits, rules, check))

    def again(self, name: str, check: Check = lambda: None) -> Look:
        """A look by its id, computed again if it was dropped. Call it in the model's worker."""
        return self.looks.get(name) or self.look(*self.looks.recipe(name), check=check)

    def model_of(self, name: str) -> Served:
        """The model of a look."""
        return self.model(self.looks.recipe(name)[0].model)

    def start(self, name: str, served: Served, work: Callable[[], Any], **about: Any) -> Job:
        """Start long work in a model's worker; `work` gives a generator of progress whose last item is the result."""
        if sum(not job.finished for job in self.jobs.all()) >= AT_ONCE:
            raise Busy(f"{AT_ONCE} jobs are under way already; stop one, or try again later")
        stopped = Stopped()
        job = self.jobs.add(Job(name, {"model": served.id, **about}, stopped.set))
        served.worker.steps(stepwise(job, stopped, work()))
        return job

    def close(self) -> None:
        """Stop all work and end the threads."""
        self.jobs.close()
        for served in self.served.values():
            served.worker.close()


def serve_models(subjects: Sequence[Subject], waiting: int = WAITING) -> dict[str, Served]:
    """The models by short ids made of their names."""
    served: dict[str, Served] = {}
    for subject in subjects:
        plain = re.sub(r"[^\w.-]+", "-", Path(subject.name).name) or "model"
        taken = sum(name == plain or name.startswith(f"{plain}-") for name in served)
        name = f"{plain}-{taken + 1}" if taken else plain
        _ = subject.fingerprint  # looks are named by it: hashed now, not while somebody waits
        served[name] = Served(name, subject, Worker(name, waiting))
    return served
