"""Which experiments decide which question: the one place where calibration reads it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whence.auditing.audited import AuditedPart
from whence.auditing.wishes import SEARCH
from whence.calibration.case import Case
from whence.evaluation.runner import run_experiment
from whence.results.experiment import experiment, names
from whence.results.result import Result


@dataclass(frozen=True)
class Asking:
    """An experiment, its options as small as an audit's, and of which cases it can be asked."""

    experiment: str
    options: Mapping[str, Any] = field(default_factory=dict)
    pooling: Mapping[str, Any] | None = None  # options for a model with one pooling attention, where they differ
    needs_marks: bool = False  # words that are marked as deciding


TESTED = 4
DECIDING: dict[int, tuple[Asking, ...]] = {
    1: (Asking("ablation", {"draws": 5}),),
    2: (Asking("identifiability"),),
    3: (Asking("faithfulness", {"method": ("raw_attention", "gradient_x_input", "random"), "soft_draws": 0}),),
    4: (Asking("controls", {"method": ("raw_attention", "gradient_x_input", "leave_one_out"), "explained": 40}),),
    5: (Asking("instance_adversary", SEARCH, {"restarts": 3, "steps": 150}),),
    6: (Asking("rationales", {"method": ("raw_attention", "random")}, needs_marks=True),),
}


def asked(case: Case, questions: Sequence[int]) -> list[Asking]:
    """The experiments that these questions take on a case; question 4, which takes longest, only where its answer is
    known, and then alone.
    """
    questions = [number for number in questions if (number == TESTED) == (TESTED in case.answers)]
    marked = any(any(example.rationale or ()) for example in case.corpus["test"])
    there = set(names())
    return [
        one
        for number in questions
        for one in DECIDING.get(number, ())
        if one.experiment in there and (marked or not one.needs_marks)
    ]


def audited(case: Case, questions: Sequence[int], seed: int = 0) -> AuditedPart:
    """The case as an audit would have it: its experiments run, and their verdicts combined."""
    results = [_result(case, one, seed) for one in asked(case, questions)]
    return AuditedPart(case.subject.name, "", results)


def _result(case: Case, asking: Asking, seed: int) -> Result:
    pools = any(site.kind == "pool" for site in case.subject.sites.values())
    options = asking.pooling if pools and asking.pooling is not None else asking.options
    config = experiment(asking.experiment).config(
        model=case.subject.name, data=case.corpus.name, split="test", seed=seed, batch_size=64, **options
    )
    return run_experiment(asking.experiment, config, subject=case.subject, corpus=case.corpus, quiet=True)
