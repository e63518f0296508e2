"""Small saved models on small tables, ready for an experiment."""

from collections import Counter

import numpy as np
import torch

from support import saved_models
from whence.core.overrides import Override
from whence.data.tables.reader import Columns, read_table
from whence.evaluation.context import Context
from whence.subject.subject import load

TASKS = {
    "bert": (saved_models.bert, saved_models.labelled, Columns()),
    "additive": (saved_models.additive, saved_models.labelled, Columns()),
    "tagger": (saved_models.tagger, saved_models.tagged, Columns()),
    "translator": (saved_models.translator, saved_models.translated, Columns(target="said")),
    "speaker": (saved_models.speaker, saved_models.bare, Columns()),
}


def context(kind: str, n: int = 3, **options) -> Context:
    model, table, columns = TASKS[kind]
    examples = sorted(read_table(table(), columns)["test"], key=lambda example: len(example.text))[:n]
    return Context(load(model()), examples, range(n), quiet=True, name="permutation", **options)


class Shifts:
    """In the place of random orders, orders that are known: the n-th shuffle moves free weights n keys on."""

    def __call__(self, generator: torch.Generator) -> Override:
        self.done = Counter[str]()
        return Override("shifted", self.rule, generator)

    def rule(self, call, free):
        weights = call.weights.clone()
        free = free.expand_as(weights)
        size = len(weights) // call.copies
        for row, head, query in np.ndindex(*weights.shape[:3]):
            keys = free[row, head, query].nonzero().flatten()
            shift = 1 + self.done[call.site.name] + row // size
            weights[row, head, query, keys] = call.weights[row, head, query, keys.roll(-shift)]
        self.done[call.site.name] += call.copies
        return weights
