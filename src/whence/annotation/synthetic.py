"""Synthetic annotators: simulations with known sensitivity, for tests and for planning, never for findings.

An item is truly relevant with a probability that its condition has. Each annotator reports that truth independently,
with a `sensitivity` for relevant items and a `specificity` for the others. So the expected share of each condition and
the expected kappa are known (Dawid & Skene 1979 is the same model with the truth unknown).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from whence.annotation.answers import FOLDER, SYNTHETIC, Answer, AnswerFile, now
from whence.annotation.study import Item, Place, Secret, Study
from whence.core.errors import BadConfig, BadData

SECONDS = (2.0, 0.5)  # of the logarithm of the time for an item: median 7.4 seconds


@dataclass(frozen=True)
class Annotator:
    """How well a synthetic annotator sees whether the highlighted words are relevant."""

    sensitivity: float = 0.95
    specificity: float = 0.95

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0 <= value <= 1:
                raise BadConfig(f"{name} is a probability from 0 to 1, got {value}")

    def expected_share(self, relevant: float) -> float:
        """The expected share of items called relevant, if so many truly are."""
        return relevant * self.sensitivity + (1 - relevant) * (1 - self.specificity)

    def expected_kappa(self, relevant: float) -> float:
        """The expected Cohen's kappa of two such annotators, if so many items of all truly are relevant."""
        yes, no = self.sensitivity, self.specificity
        agreed = relevant * (yes**2 + (1 - yes) ** 2) + (1 - relevant) * (no**2 + (1 - no) ** 2)
        share = self.expected_share(relevant)
        chance = share**2 + (1 - share) ** 2
        return (agreed - chance) / (1 - chance) if chance < 1 else float("nan")


def true_relevance(study: Study, relevant: Mapping[str, float], rng: np.random.Generator) -> dict[str, bool]:
    """For each item that is not a check, whether its words are truly relevant; a repeat has the value of its item."""
    key, found = study.key(), dict[str, bool]()
    for item in study.items:
        secret = key[item.id]
        if not secret.check:
            truth = bool(rng.random() < _probability(relevant, secret.conditions[0]))
            found[item.id] = found.get(secret.repeats, truth)
    return found


def _probability(relevant: Mapping[str, float], condition: str) -> float:
    if condition not in relevant:
        raise BadConfig(f"no share of relevant items was given for the condition {condition}")
    return relevant[condition]


def answers_of(study: Study, annotator: Annotator, truth: Mapping[str, bool], rng: np.random.Generator) -> list[Answer]:
    """The answers of one synthetic annotator to all items; checks are passed."""
    return [
        Answer(
            item.id,
            _answer(study.key()[item.id], annotator, truth.get(item.id, False), rng),
            seconds=round(float(rng.lognormal(*SECONDS)), 1),
            at=now(),
        )
        for item in study.items
    ]


def _answer(secret: Secret, annotator: Annotator, relevant: bool, rng: np.random.Generator) -> str:
    if secret.check:
        return secret.check
    says = rng.random() < (annotator.sensitivity if relevant else 1 - annotator.specificity)
    return "yes" if says else "no"


def simulate_study(
    folder: Path, study: Study, relevant: Mapping[str, float], annotators: Sequence[Annotator], seed: int
) -> list[str]:
    """Write the answers of synthetic annotators into a study; their names begin with `synthetic-`."""
    if study.task != "relevance":
        raise BadConfig(f"synthetic annotators judge relevance; the study asks for {study.task}")
    if any((folder / FOLDER).glob("*.jsonl")):
        raise BadData(
            f"{folder} holds answers already; synthetic ones are not added to them. Use a copy without answers"
        )
    rng = np.random.default_rng(seed)
    truth, names = true_relevance(study, relevant, rng), []
    for number, annotator in enumerate(annotators, start=1):
        names.append(f"{SYNTHETIC}{number}")
        AnswerFile(folder, study, names[-1], synthetic=True).append(answers_of(study, annotator, truth, rng))
    return names


def made_study(conditions: Mapping[str, float], items: int, controls: Sequence[str], right: float = 0.9) -> Study:
    """A study without texts, for planning: `items` for each condition, of which a share is predicted right."""
    place: tuple[Place, ...] = ((0, 0),)
    names = [f"{condition} {number}" for condition in conditions for number in range(items)]
    secrets = {
        name: Secret(at, (name.rpartition(" ")[0],), label="a", correct=float((at % items) < right * items))
        for at, name in enumerate(names)
    }
    shown = tuple(Item(name, (("word",),), "a" if secrets[name].correct else "b", (place,)) for name in names)
    methods = [one for one in conditions if one not in controls]
    design = {"methods": methods, "controls": list(controls), "stratify": True}
    return Study("relevance", shown, {"model": "none", "corpus": "none"}, secrets, design)
