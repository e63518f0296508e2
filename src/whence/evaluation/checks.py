"""What is refused before an experiment runs: models, labels and folders that it cannot use."""

import errno
import os
from collections.abc import Sequence
from pathlib import Path

from whence.core.errors import BadConfig, BadData
from whence.data.examples import Corpus, Example
from whence.data.tables.cells import listed_rows
from whence.results.atomic_write import saving
from whence.results.experiment import Needs
from whence.subject.subject import Subject, refuse_headless


def refuse_unsuited(subject: Subject, needs: Needs, name: str) -> None:
    """Refuse a model that does not predict what the experiment needs."""
    if needs.predictions:
        refuse_headless(subject, name)
    if needs.classes:
        refuse_values(subject, name)


def refuse_examples(corpus: Corpus, split: str, subject: Subject, needs: Needs, data: str, name: str) -> None:
    """Refuse examples whose labels are missing where the experiment needs them, or unknown to the model."""
    if needs.predictions:
        refuse_unknown(corpus[split], subject)
    if needs.labels:
        refuse_unlabelled(corpus[split], subject, data, name, corpus.numbers_of(split, range(len(corpus[split]))))


def refuse_values(subject: Subject, asking: str) -> None:
    """Refuse a model that predicts values, where distributions over classes are compared or labels are counted."""
    if subject.task.predicts_values:
        raise BadConfig(
            f"{subject.name} predicts values, not classes ({subject.task.about}); {asking} needs classes. How it"
            " attends can be seen with `explain`: lat, lat_mixed, rollout, raw_attention"
        )


def refuse_translator(subject: Subject, needed: str, instead: str = "") -> None:
    """Refuse a model that generates texts, where a prediction is one class of a text or of its words."""
    if subject.task.name == "seq2seq":
        raise BadConfig(f"{needed}, and {subject.name} generates texts{instead}")


def refuse_unknown(examples: Sequence[Example], subject: Subject) -> None:
    """Every label or tag must be one that the model knows, also of examples that are not sampled."""
    needs = subject.task.needs
    if needs in ("label", "tags"):
        given = [example.label and (example.label,) if needs == "label" else example.tags for example in examples]
        for label in dict.fromkeys(label for labels in given for label in labels or ()):
            subject.encoder.label_id(label)


def numbered_labels(examples: Sequence[Example], subject: Subject) -> list[str]:
    """A note on labels that are numbers, of a model whose classes have names: which number was read as which class."""
    if subject.task.needs not in ("label", "tags"):
        return []
    encoder = subject.encoder
    labels = {label for e in examples for label in ((e.label,) if subject.task.needs == "label" else e.tags or ())}
    named = {name.lower() for name in encoder.label_ids}
    by_number = any(label is not None and label.lower() not in named for label in labels)
    nameless = all(name.upper() == f"LABEL_{number}" for name, number in encoder.label_ids.items())
    if not by_number or nameless:
        return []
    read = ", ".join(f"{number} is {name}" for number, name in sorted(encoder.numbered().items()))
    return [f"the labels are numbers; they were read as the numbers of the model's classes: {read}"]


def refuse_unlabelled(
    examples: Sequence[Example], subject: Subject, data: str, name: str, numbers: Sequence[int] | None = None
) -> None:
    """Accuracy needs labels, and more than one class; `numbers` are those of the examples in their split, from 0."""
    needs, numbered = subject.task.needs, zip(numbers or range(len(examples)), examples, strict=True)
    without = [number + 1 for number, example in numbered if getattr(example, needs) is None]
    if without:
        raise BadData(
            f"{data} has examples without {needs}, which a model for {subject.task.name} predicts, and {name} needs"
            f" it: {len(without)} of {len(examples)} in this split ({listed_rows(without)}, counted from 1); fill or"
            f" remove them, or name the column (--columns.{needs} NAME). `permutation` needs none"
        )
    if needs == "label" and len({example.label for example in examples}) < 2:
        raise BadData(
            f"{data} has one class only ({examples[0].label}); expected at least two. Choose another split"
            " (--split NAME), or name another label column (--columns.label NAME)"
        )


def refuse_unwritable(folder: Path) -> None:
    """Refuse a folder that cannot be written, before the experiment instead of after it."""
    with saving(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
