"""Changes to a case that change nothing that matters: every verdict must stay the same."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch

from whence.calibration.case import Case
from whence.data.examples import Corpus, Example
from whence.data.rng import seeded_rng
from whence.subject.subject import Subject

Variant = Callable[[Case], Case]


def logits_times(times: float) -> Variant:
    """All logits multiplied: the same decisions."""

    @torch.no_grad()
    def changed(case: Case) -> Case:
        for parameter in _head(case.subject).parameters():
            parameter.mul_(times)
        return case

    return changed


def _head(subject: Subject) -> torch.nn.Module:
    """The last linear map."""
    model: Any = subject.model
    for path in ("classifier", "score", "decoder.classify"):
        try:
            head = model.get_submodule(path)
        except AttributeError:
            continue
        if isinstance(head, torch.nn.Linear):
            return head
    raise ValueError(f"{type(model).__name__} has no last linear map that is known here")


def classes_renamed(case: Case) -> Case:
    """The names of the classes exchanged, in the model and in the corpus."""
    old = case.subject.labels
    names = dict(zip(old, (*old[1:], old[0]), strict=True))
    model, config = case.subject.model, case.subject.model.config
    config.id2label = {number: names[label] for number, label in enumerate(old)}
    config.label2id = {label: number for number, label in config.id2label.items()}
    subject = Subject(model, case.subject.tokenizer, name=case.subject.name)
    splits = {split: tuple(_renamed(e, names) for e in examples) for split, examples in case.corpus.splits.items()}
    corpus = Corpus(case.corpus.name, splits, tuple(names[label] for label in case.corpus.labels))
    return replace(case, subject=subject, corpus=corpus)


def _renamed(example: Example, names: Mapping[str, str]) -> Example:
    label = None if example.label is None else names[example.label]
    tags = None if example.tags is None else tuple(names[tag] for tag in example.tags)
    return replace(example, label=label, tags=tags)


def examples_reordered(case: Case) -> Case:
    """The texts in another order."""
    examples = case.corpus["test"]
    order = seeded_rng(0, "reordered").permutation(len(examples)).tolist()
    splits = {**case.corpus.splits, "test": tuple(examples[number] for number in order)}
    return replace(case, corpus=replace(case.corpus, splits=splits))


@torch.no_grad()
def heads_relabelled(case: Case) -> Case:
    """The heads of every layer of a BERT in another order, with their rows of Q, K and V and their columns of O."""
    model: Any = case.subject.model
    for layer in model.bert.encoder.layer:
        attention = layer.attention
        size = attention.self.attention_head_size
        count = attention.self.num_attention_heads
        rows = torch.arange(count * size).reshape(count, size).roll(1, 0).flatten()
        for linear in (attention.self.query, attention.self.key, attention.self.value):
            linear.weight.copy_(linear.weight[rows].clone())
            linear.bias.copy_(linear.bias[rows].clone())
        attention.output.dense.weight.copy_(attention.output.dense.weight[:, rows].clone())
    return case


VARIANTS: dict[str, Variant] = {
    "logits divided by ten": logits_times(0.1),
    "logits multiplied by ten": logits_times(10.0),
    "classes renamed": classes_renamed,
    "texts reordered": examples_reordered,
    "heads relabelled": heads_relabelled,
}
VARIED: dict[str, tuple[str, ...]] = {
    "attends": ("logits divided by ten", "logits multiplied by ten", "classes renamed", "texts reordered"),
    "carrier-next": ("logits divided by ten", "logits multiplied by ten", "classes renamed", "texts reordered"),
    "attends-pool": ("logits divided by ten", "logits multiplied by ten", "classes renamed", "texts reordered"),
    "one-head-of-four": ("heads relabelled",),
    "untrained-bert": ("heads relabelled", "texts reordered"),
}
SAME_AS = {"idle-1": "attends", "idle-3": "attends", "idle-7": "attends"}  # idle heads added
