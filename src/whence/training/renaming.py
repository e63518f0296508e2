"""Words of a kind exchanged at random in training, in text and label alike: a name is only a name.

In bAbI any actor may be any other, and so may objects and places: with `mary john` among the groups, a story about Mary
and John becomes one about John and Mary, and what was true of the one is true of the other. A model that is trained so
must find the answer in the story. No paper here does so: it is a declared option.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Int
from torch import Generator, Tensor

from whence.core.errors import BadConfig
from whence.subject.batch import Batch
from whence.subject.subject import Subject


@dataclass(frozen=True, eq=False)
class Group:
    """Words of a kind: their tokens, their classes where they are labels, and their places in the group by token and by
    class (-1: another word).
    """

    tokens: Int[Tensor, " word"]
    classes: Int[Tensor, " word"] | None
    place_of_token: Int[Tensor, " token"]
    place_of_class: Int[Tensor, " class"]


class Renaming:
    """Permutes the words of each group, in some of the texts."""

    def __init__(self, subject: Subject, groups: Sequence[str], share: float) -> None:
        if subject.task.name != "sequence-classification":
            raise BadConfig(
                f"interchangeable words are for texts with one label; {subject.name} is for {subject.task.name}"
            )
        self.share = share
        self.groups = [_group(subject, words.split()) for words in groups]

    def renamed(self, batch: Batch, generator: Generator) -> Batch:
        """The batch with its words renamed in a share of the texts. `tokens`, which training does not read, stay."""
        ids, labels = batch.inputs["input_ids"], batch.labels
        chosen = torch.rand(len(batch), 1, generator=generator) < self.share
        for group in self.groups:
            n_word = len(group.tokens)
            order = torch.rand(len(batch), n_word, generator=generator).argsort(1)
            order = torch.where(chosen, order, torch.arange(n_word))  # [batch word]
            ids = _exchanged(ids, group.place_of_token, group.tokens, order)
            if group.classes is not None:
                labels = _exchanged(labels, group.place_of_class, group.classes, order)
        return replace(batch.with_inputs(input_ids=ids), labels=labels)


def _exchanged(
    numbers: Int[Tensor, "batch _"], places: Tensor, words: Tensor, order: Int[Tensor, "batch word"]
) -> Int[Tensor, "batch _"]:
    """Tokens or classes, those of the group replaced by the word that the text's order has in their place."""
    place = places[numbers.clamp_min(0).cpu()]  # [batch _]
    other = words[order.gather(1, place.clamp_min(0))]
    return torch.where(((place >= 0) & (numbers.cpu() >= 0)), other, numbers.cpu()).to(numbers.device)


def _group(subject: Subject, words: Sequence[str]) -> Group:
    vocabulary, labels = subject.tokenizer.get_vocab(), list(subject.labels)
    unknown = [word for word in words if word not in vocabulary]
    if unknown or len(set(words)) < 2:
        raise BadConfig(
            f"interchangeable words must be two or more of the vocabulary; came {' '.join(words)!r}"
            + (f", of which {', '.join(unknown)} are not in it" if unknown else "")
        )
    classed = [word in labels for word in words]
    if any(classed) and not all(classed):
        raise BadConfig(
            f"of the interchangeable words {' '.join(words)!r} all must be labels or none;"
            f" these are: {', '.join(word for word, is_label in zip(words, classed, strict=True) if is_label)}"
        )
    tokens = torch.tensor([vocabulary[word] for word in words])
    classes = torch.tensor([labels.index(word) for word in words]) if all(classed) else None
    return Group(tokens, classes, _places(tokens, len(vocabulary)), _places(classes, len(labels)))


def _places(numbers: Tensor | None, n: int) -> Int[Tensor, " number"]:
    places = torch.full((n,), -1)
    if numbers is not None:
        places[numbers] = torch.arange(len(numbers))
    return places
