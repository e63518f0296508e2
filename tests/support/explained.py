"""Texts to explain, and what attention a model gave them."""

import torch

from whence.core.attending import attending
from whence.data.examples import Example

EXAMPLES = [
    Example("the movie was not good", target="the good movie"),
    Example("unbelievable movies !", target="a"),
    Example("bad", target="bad film"),
]


def tape_of(subject, batch):
    with torch.no_grad(), attending(subject.model) as tape:
        subject.model(**batch.inputs)
    return tape
