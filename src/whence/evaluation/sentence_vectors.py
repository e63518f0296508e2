"""The vectors that probes learn from: of every sentence once, after every layer, reduced batch by batch."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from tqdm.auto import tqdm

from whence.data.examples import Example
from whence.data.probing.tasks import Item
from whence.subject.hidden_states import Read, bag, layer_vectors

if TYPE_CHECKING:
    from whence.evaluation.context import Context


@dataclass(frozen=True, eq=False)
class Vectors:
    """Vectors of sentences: the mean of their word vectors, and those after 0, 1, 2 ... layers."""

    places: dict[tuple[str, str | None], int]
    bag: Float[ndarray, "sentence embedding"]
    layers: Sequence[ndarray]  # each [sentence width]; widths may differ

    def of(self, items: Iterable[Item], layer: int | None) -> Float[ndarray, "item width"]:
        """The vectors of some items after a layer; without one, the means of their word vectors."""
        held = self.bag if layer is None else self.layers[layer]
        return held[[self.places[key(item.example)] for item in items]]


def key(example: Example) -> tuple[str, str | None]:
    """What identifies a sentence."""
    return example.text, example.pair


def vectors(context: "Context", items: Iterable[Item], read: Read) -> Vectors:
    """The vectors of all sentences of these items, each read once however many tasks it is in."""
    examples = list({key(item.example): item.example for item in items}.values())
    found: list[list[ndarray]] = []  # by batch: the bag, and every layer
    order: list[int] = []
    subject = context.subject
    n_batch = -(-len(examples) // context.batch_size)
    batches = subject.batches(examples, context.batch_size, labelled=False)
    for batch in tqdm(batches, f"{context.name}: reading", n_batch, unit="batch", disable=context.quiet, leave=False):
        states = [bag(subject, batch), *layer_vectors(subject, batch, read)]
        found.append([one.float().cpu().numpy() for one in states])
        order += batch.examples.tolist()
    back = np.argsort(order)  # batches hold texts of similar length
    joined = [np.concatenate(parts)[back] for parts in zip(*found, strict=True)]
    return Vectors({key(example): number for number, example in enumerate(examples)}, joined[0], joined[1:])
