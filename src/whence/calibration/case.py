"""A case: a model and a corpus whose answers to some of the audit's questions are known, with the proof of them."""

import csv
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from whence.core.errors import WhenceError
from whence.data.examples import Corpus
from whence.subject.subject import Subject

Known = Literal["yes", "no", "undecided", "not yes", "not no"]
HEADLINE = 0  # in the place of a question's number: is attention an explanation here?


class ProofFailed(WhenceError, AssertionError):
    """A case is not what it says: its answer would not be known."""


@dataclass(frozen=True)
class Claim:
    """One measured number, and the bounds within which it proves the case's answers."""

    what: str
    value: float
    at_least: float = float("-inf")
    at_most: float = float("inf")

    @property
    def holds(self) -> bool:
        """Whether the number lies within its bounds."""
        return bool(self.at_least <= self.value <= self.at_most)

    def __str__(self) -> str:
        bounds = [f"at least {self.at_least:g}"] * (self.at_least > float("-inf"))
        bounds += [f"at most {self.at_most:g}"] * (self.at_most < float("inf"))
        return f"{self.what}: {self.value:.4g} ({' and '.join(bounds)})"


@dataclass(frozen=True, eq=False)
class Case:
    """A subject, a corpus, what the audit should answer, and why.

    `answers` holds only questions whose answer is known. *undecided* is a known answer, as for a model at
    chance. *not yes* and *not no* leave one side open: verdicts on the other are wrong.
    """

    subject: Subject
    corpus: Corpus
    answers: Mapping[int, Known]
    proof: tuple[Claim, ...]

    def __post_init__(self) -> None:
        failed = [str(claim) for claim in self.proof if not claim.holds]
        if failed:
            raise ProofFailed(f"the case of {self.subject.name} is not what it says: {'; '.join(failed)}")
        if not self.proof:
            raise ProofFailed(f"the case of {self.subject.name} came without a proof; give it claims")

    def save(self, folder: Path) -> None:
        """Write the model, its tokenizer and the table, so that `whence audit FOLDER FOLDER/data.csv` runs on them."""
        folder.mkdir(parents=True, exist_ok=True)
        self.subject.model.save_pretrained(folder)
        self.subject.tokenizer.save_pretrained(folder)
        with (folder / "data.csv").open("w", newline="", encoding="utf-8") as file:
            rows = [_row(example) for example in self.corpus["test"]]
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


def _row(example: object) -> dict[str, str]:
    """An example as a row of a table."""
    fields = {"text": None, "pair": None, "label": None, **vars(example)}
    if fields["tags"] is not None:
        return {"tokens": json.dumps(fields["words"]), "tags": json.dumps(fields["tags"])}
    row = {name: fields[name] for name in ("text", "pair", "label") if fields[name] is not None}
    if fields["rationale"] is not None:
        row |= {"tokens": json.dumps(fields["words"]), "rationale": json.dumps([int(m) for m in fields["rationale"]])}
    return row


@dataclass(frozen=True)
class Kind:
    """A kind of case: what it is, and how one is made from a seed and a number of texts."""

    name: str
    about: str  # what the model does, and why the answers follow
    make: Callable[[int, int], Case]
    trained: bool = False  # its model is trained, which takes seconds
    needs_data: str = ""  # the native corpus that must be there
    family: str = field(default="", compare=False)

    def of(self, family: str) -> "Kind":
        """The same kind as one of a family."""
        return replace(self, family=family)
